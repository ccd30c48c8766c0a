"""Arrays of NumPy as indices of several tensors that may be on a device."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    Binding,
    Device,
    SemanticModel,
    TypeTag,
    UseKind,
    frozen,
    is_in,
    is_in_block,
    variable_names,
)
from rlint.rules.transfers.rl209_index_by_list.list_indices import tensors_indexed_by

_MOVES = frozenset({"cuda", "numpy", "to"})
_FOR = (ast.For, ast.AsyncFor)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@frozen
class IndexArray:
    """An array that indexes tensors at several places, or at one place in a loop over tensors."""

    name: str
    places: tuple[ast.Subscript, ...]
    is_looped: bool

    def where(self, model: SemanticModel) -> str:
        """Return what it indexes, in words."""
        count = len(self.places)
        if self.is_looped:
            return "for each tensor that it indexes"
        if len({model.source.text(place.value) for place in self.places}) == count:
            return f"for each of the {count} tensors that it indexes"
        return f"at each of the {count} places where it indexes a tensor"


def index_array(subscript: ast.Subscript, model: SemanticModel) -> IndexArray | None:
    """Return the array that indexes a tensor, if it indexes others as well and this is the first of them."""
    binding = _array_binding(subscript.slice, model)
    if binding is None or model.types.type_of(subscript.value).tag is not TypeTag.TENSOR:
        return None
    every = [place for place in tensors_indexed_by(binding, model) if _may_be_on_device(place, model)]
    places = [place for place in every if place is subscript or not _excludes(subscript, place, model)]
    if subscript not in every or places[0] is not subscript:
        return None
    is_looped = any(_takes_each(place, binding, model) for place in places)
    if len(places) < 2 and not is_looped:
        return None
    return IndexArray(binding.name, (*places,), is_looped)


def has_array(index: ast.expr, model: SemanticModel) -> bool:
    """Whether an index is a variable that holds an array, or has such a part."""
    return _array_binding(index, model) is not None


def _array_binding(index: ast.expr, model: SemanticModel) -> Binding | None:
    """Return the only binding of a variable that holds an array as an index, alone or beside others."""
    if isinstance(index, ast.Tuple):
        found = (_array_binding(part, model) for part in index.elts if isinstance(part, ast.Name))
        return next((binding for binding in found if binding is not None), None)
    if not isinstance(index, ast.Name) or model.types.type_of(index).tag is not TypeTag.NDARRAY:
        return None
    made = model.dataflow.definitions(index)
    return made[0] if len(made) == 1 else None


def _may_be_on_device(place: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an indexed tensor may be on a device: it is not known to be on the host, and what is selected
    is not moved.
    """
    if not isinstance(place.ctx, ast.Load):
        return False
    if model.types.type_of(place.value).device in (Device.HOST, Device.OTHER):
        return False
    uses = model.dataflow.uses(place, frozenset({UseKind.METHOD}))
    methods = (use.at.func for use in uses if use.kind is UseKind.METHOD and isinstance(use.at, ast.Call))
    return not any(isinstance(func, ast.Attribute) and func.attr in _MOVES for func in methods)


def _excludes(first: ast.AST, second: ast.AST, model: SemanticModel) -> bool:
    """Whether only one of two places runs: they are in the two branches of a condition, or one of them is in
    a branch that leaves before the other.
    """
    return any(
        _leaves_out(around, one, other)
        for one, other in ((first, second), (second, first))
        for around in model.ancestors(one)
        if isinstance(around, ast.If)
    )


def _leaves_out(test: ast.If, node: ast.AST, other: ast.AST) -> bool:
    own = next((block for block in (test.body, test.orelse) if is_in_block(node, block)), None)
    if own is None or is_in_block(other, own):
        return False
    return is_in(other, test) or isinstance(own[-1], _LEAVES)


def _takes_each(place: ast.Subscript, array: Binding, model: SemanticModel) -> bool:
    """Whether a loop takes one tensor after the other, and indexes each by the same array: `{name: part[rows]
    for name, part in parts.items()}`.
    """
    owner = variable_names(place.value)
    for loop in model.frequency.loops(place):
        if is_in(array.node, loop):
            return False
        if isinstance(loop, _FOR) and owner & variable_names(loop.target):
            return True
        if isinstance(loop, COMPREHENSIONS) and any(
            owner & variable_names(part.target) for part in loop.generators
        ):
            return True
    return False
