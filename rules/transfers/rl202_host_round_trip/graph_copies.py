"""Copies to the host through which a gradient flows back."""

from __future__ import annotations

import ast

from rlint.rule import (
    Autograd,
    Device,
    Function,
    SemanticModel,
    SinkKind,
    TypeTag,
    Use,
    UseKind,
    descendants,
)
from rlint.rules.transfers._shared.in_steps import is_in_environment_steps
from rlint.rules.transfers._shared.there_and_back import is_copied_to_host
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where


def differentiated_copies(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return the copies to the host in a function through which a gradient flows back, without those of which
    the host draws the actions of the environment: it needs them, wherever the loss is computed.
    """
    found = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and is_copied_to_host(node, model)
        and where(node.func.value, model) not in (None, Device.HOST)
        and model.gradients.autograd_at(node) is not Autograd.OFF
    ]
    copies = [
        copy
        for copy in found
        if any(sink.label is SinkKind.LEARNED for sink in model.gradients.traced(copy).sinks)
        and not (is_in_environment_steps(copy, model) and _is_drawn_from(copy, model))
    ]
    return sorted(copies, key=model.source.span)


def _is_drawn_from(copy: ast.Call, model: SemanticModel) -> bool:
    """Whether a tensor becomes the parameters of a distribution of which a sample is drawn."""
    uses = model.dataflow.uses_across_functions(copy, lambda use: _makes_distribution(use, model))
    return any(use.kind is UseKind.METHOD and _samples(use.at) for use in uses)


def _makes_distribution(use: Use, model: SemanticModel) -> bool:
    return (
        use.kind is UseKind.ARGUMENT
        and isinstance(use.at, ast.Call)
        and model.types.type_of(use.at).tag is TypeTag.DISTRIBUTION
    )


def _samples(call: ast.AST) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="sample")):
            return True
    return False
