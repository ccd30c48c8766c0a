"""Reads in the middle of a forward pass, which nothing outside of it needs."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, UseKind, descendants, last_name, regex
from rlint.rules.transfers._shared.in_steps import is_in_layer
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_COPIES = frozenset({"cpu", "item", "tolist"})
_FORWARD = regex(r"^_*forward(_(?!.*backward)|$)")
_NEEDS_HOST = frozenset({"pack_padded_sequence"})
_FOLLOWED = frozenset(
    {UseKind.ARGUMENT, UseKind.ELEMENT, UseKind.ITEM, UseKind.ITERATED, UseKind.METHOD, UseKind.OPERAND}
)


def is_in_forward_pass(read: HostRead, model: SemanticModel) -> bool:
    """Whether a forward pass copies a value to the host that it does not return, such as the places where it
    splits a sequence. Arrays are for the host, and so are the lengths that `pack_padded_sequence` takes.
    """
    function = model.function(read.node)
    if read.method not in _COPIES or function is None or model.frequency.loops(read.node):
        return False
    if not is_in_layer(read.node, model) and not _FORWARD.match(function.name):
        return False
    if any(last_name(node) in _NEEDS_HOST for node in descendants(function)):
        return False
    uses = model.dataflow.uses(read.node, _FOLLOWED)
    return bool(uses) and not any(use.kind is UseKind.RETURNED or use.cause is not None for use in uses)


def layer_of(read: HostRead, model: SemanticModel) -> str:
    """Return the name of the function that reads."""
    function = model.function(read.node)
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    return function.name
