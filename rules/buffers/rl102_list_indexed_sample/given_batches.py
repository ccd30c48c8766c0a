"""Batches of single transitions that callers draw from a buffer and pass to a method, which unzips them."""

from __future__ import annotations

import ast

from rlint.rule import CallEdge, SemanticModel, Trait, descendants, frozen, models
from rlint.rules.buffers._shared.held import may_hold_transitions
from rlint.rules.buffers._shared.passed_values import calls_passing
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import SAMPLES, STORES

_JOINS = models.having(Trait.JOINS, "numpy", "torch")
_FIELDS = 3
"""So many fields are joined: a transition has at least a state, an action and a reward."""


@frozen
class GivenBatch:
    """`zip(*batch)` of a batch that another function drew with `drawn_by`."""

    at: ast.Call
    batch: ast.Name
    drawn_by: str


def given_batch(call: ast.Call, model: SemanticModel) -> GivenBatch | None:
    """Return the batch of `zip(*batch)`, if it is a parameter, callers draw it from a buffer, and arrays or
    tensors are joined for several fields.
    """
    match call:
        case ast.Call(args=[ast.Starred(value=ast.Name() as batch)], keywords=[]):
            pass
        case _:
            return None
    function = model.function(call)
    if function is None or not may_hold_transitions(model.types.type_of(batch)):
        return None
    keys, calls = calls_passing(batch, model)
    if not calls:
        return None
    joins = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Call) and model.names.qualified(node.func) in _JOINS
    ]
    if len(joins) < _FIELDS:
        return None
    stores = {_store_of(edge, keys) for edge in calls}
    store = stores.pop() if len(stores) == 1 else None
    return GivenBatch(call, batch, store) if store is not None else None


def _store_of(edge: CallEdge, keys: tuple[str, str]) -> str | None:
    """Return the method of a buffer that a caller draws with, where it passes on a batch."""
    if not any(place in keys for place, _ in edge.site.names):
        return None
    for site in edge.caller.calls:
        if (
            SAMPLES.search(site.method)
            and STORES.search(site.receiver.lower())
            and site.line <= edge.site.line
        ):
            return f"{site.receiver}.{site.method}"
    return None
