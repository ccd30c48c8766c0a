"""Copies to the host through which a gradient flows back."""

from __future__ import annotations

import ast

from rlint.rule import (
    Autograd,
    Device,
    Function,
    SemanticModel,
    SinkKind,
    descendants,
)
from rlint.rules.transfers._shared.there_and_back import is_copied_to_host
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where


def differentiated_copies(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return the copies to the host in a function through which a gradient flows back."""
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
    ]
    return sorted(copies, key=model.source.span)
