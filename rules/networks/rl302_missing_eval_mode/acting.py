"""Forward passes that select an action or judge a position, outside of loops of their function."""

from __future__ import annotations

import ast

from rlint.rule import (
    Autograd,
    Function,
    Heat,
    SemanticModel,
    SinkKind,
    TypeTag,
    descendants,
    gradient_sinks,
    roles,
)
from rlint.rules.networks.rl302_missing_eval_mode.evaluation import (
    LEARNS,
    MEANT,
    means_evaluation,
    words_in,
)
from rlint.rules.networks.rl302_missing_eval_mode.layers_by_mode import only_drops


def may_act(function: Function | None) -> bool:
    """Whether a function is named after selecting actions, or after an evaluation."""
    return function is not None and _is_named_so(function.name)


def _is_named_so(name: str) -> bool:
    if not (selects_actions(name) or means_evaluation(name)):
        return False
    return not words_in(name) & (MEANT | LEARNS)


def selects_actions(name: str) -> bool:
    """Whether a function of this name selects an action."""
    return roles.snake_case(name).lstrip("_") in roles.ACTS


def acts(call: ast.Call, network: ast.expr, model: SemanticModel) -> bool:
    """Whether a forward pass in a function that may act runs repeatedly, without a gradient step that follows
    from its result. Dropout alone may be meant to explore, unless the best action is taken.
    """
    function = model.function(call)
    if function is None or model.frequency.heat_of(call).level is Heat.COLD:
        return False
    labels = {sink.label for sink in model.gradients.sinks(call)}
    carries_no_gradient = bool(labels) and labels <= gradient_sinks.ENDS
    if model.gradients.autograd_at(call) is not Autograd.OFF and not carries_no_gradient:
        return False
    if model.names.calls_named("backward", function) or _is_reported_at_callers(call, model):
        return False
    if not selects_actions(function.name):
        return model.frequency.is_called(call)
    if not only_drops(call, network, model):
        return True
    return SinkKind.INDEX in labels or model.once(_explores, function)


def _is_reported_at_callers(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a forward pass is a part of one of a network that functions named like this one run."""
    owner = model.symbols.class_at(call)
    if owner is None or model.index.class_kind(owner).tag is not TypeTag.MODULE:
        return False
    return any(_is_named_so(caller.name) for caller, _ in model.usage.call_sites(call))


def _explores(function: Function, model: SemanticModel) -> bool:
    """Whether a function draws a random action in a branch of its own."""
    return any(
        isinstance(node, (ast.Return, ast.Assign)) and model.branches.is_exploration(node)
        for node in descendants(function)
    )
