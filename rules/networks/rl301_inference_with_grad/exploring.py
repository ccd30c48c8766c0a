"""Functions that return either the output of a network or something drawn at random: they select actions."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel, SinkKind, descendants, gradient_sinks
from rlint.rules.networks.rl301_inference_with_grad.leaving import records


def selects_action(call: ast.Call, model: SemanticModel) -> Function | None:
    """Return the function around a forward pass whose result it returns, if it returns a random action
    instead while it explores: callers can hardly train on a value that carries no gradient in most steps.
    """
    function = model.function(call)
    if function is None or not (call.args or call.keywords) or not records(call, model):
        return None
    labels = {left.label for left in model.gradients.sinks(call)}
    if SinkKind.RETURNED not in labels or not labels <= gradient_sinks.ENDS | {SinkKind.RETURNED}:
        return None
    if model.branches.is_exploration(call) or not model.once(_explores, function):
        return None
    return function if SinkKind.LEARNED not in model.gradients.traced(call).labels else None


def _explores(function: Function, model: SemanticModel) -> bool:
    """Whether a function returns something without a gradient where it explores at random."""
    for node in descendants(function):
        if not isinstance(node, ast.Return) or node.value is None or model.function(node) is not function:
            continue
        if model.branches.is_exploration(node):
            return not model.gradients.sources(node.value).calls
        if isinstance(node.value, ast.Name):
            for binding in model.dataflow.definitions(node.value):
                if binding.value is not None and model.branches.is_exploration(binding.statement):
                    return not model.gradients.sources(binding.value).calls
    return False
