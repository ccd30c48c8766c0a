"""Slices of an array that a comprehension takes one by one, and that are stacked again."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, frozen, models
from rlint.rules.buffers._shared.held import is_sampling
from rlint.rules.buffers._shared.store_class import is_store_class

_STACKS = models.having(Trait.JOINS, "numpy", "torch") | {"numpy.array", "numpy.asarray"}

_ROWS_OF_NUMBERS = 2
"""Dimensions of an array whose rows are numbers."""


@frozen
class SlicedRows:
    """`join` stacks `[held[t : t + n, b] for t, b in zip(starts, columns)]`."""

    join: ast.Call
    held: ast.expr
    indices: ast.expr


def sliced_rows(node: ast.ListComp, model: SemanticModel) -> SlicedRows | None:
    """Return the slices of one length that a buffer takes at each of several places."""
    join = model.parent(node)
    match node:
        case ast.ListComp(
            elt=ast.Subscript(value=ast.Name() | ast.Attribute() as held, slice=index),
            generators=[ast.comprehension(target=target, iter=places, ifs=[], is_async=0)],
        ) if isinstance(join, ast.Call) and join.args[:1] == [node]:
            pass
        case _:
            return None
    names = {part.id for part in descendants(target) if isinstance(part, ast.Name)}
    if model.names.qualified(join.func) not in _STACKS or not _is_sliced_at(index, names):
        return None
    if any(isinstance(part, ast.Name) and part.id in names for part in descendants(held)):
        return None
    kind = model.types.type_of(held)
    if kind.rank is not None and kind.rank > _ROWS_OF_NUMBERS:
        return None  # copying images takes far longer than the slices
    tag = kind.tag
    is_array = tag in (TypeTag.NDARRAY, TypeTag.TENSOR) or (
        tag is TypeTag.UNKNOWN and isinstance(index, ast.Tuple)  # which lists do not accept
    )
    stored = is_sampling(node, model) or is_store_class(model.class_of(node), model)
    return SlicedRows(join, held, places) if is_array and stored else None


def _is_sliced_at(index: ast.expr, names: set[str]) -> bool:
    """Whether an index has one slice, `t : t + n`, and its other parts are loop variables or constant."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    slices = [part for part in parts if isinstance(part, ast.Slice) and _reads(part, names)]
    return len(slices) == 1 and slices[0].step is None and all(has_one_length(part, names) for part in slices)


def has_one_length(part: ast.Slice, names: set[str]) -> bool:
    """Whether both ends of a slice are computed from the same loop variable, so that all have one length."""
    ends = [part.lower, part.upper]
    read = [
        {inner.id for inner in descendants(end) if isinstance(inner, ast.Name) and inner.id in names}
        for end in ends
        if end is not None
    ]
    return len(read) == len(ends) and len(read[0]) == 1 and read[0] == read[1]


def _reads(part: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in descendants(part))
