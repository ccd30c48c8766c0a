"""Loops that pick items one by one with drawn indices, and append them to lists."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_name,
    models,
    same_code,
)
from rlint.rules.buffers._shared.held import is_sampling, may_hold_transitions
from rlint.rules.buffers._shared.store_size import holds_transitions
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import drawn_by

_ARRAYS = (TypeTag.NDARRAY, TypeTag.TENSOR)
_PERMUTED = ("numpy.random.permutation", "torch.randperm")
_DRAWN_BY = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_FIELDS = 2
"""Fewer columns than this may have another purpose."""


@frozen
class LoopedPick:
    """A loop `for i in indices: … held[i] …`: `first` is the first node that picks an item, `held` contains
    the items, and `indices` are the row indices. `columns` are the other nodes of the loop that index an
    array.
    """

    first: ast.Subscript
    indices: ast.expr
    columns: tuple[ast.Subscript, ...]
    is_array: bool


def picked_in_loop(loop: ast.For, model: SemanticModel) -> LoopedPick | None:
    """Return what a loop picks one by one and appends to lists; None for other loops."""
    found = _counted(loop, model) or _index_of(loop, model)
    if found is None:
        return None
    index, indices = found
    picks = [
        node
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is_index(node.slice, index)
    ]
    columns = tuple(pick for pick in picks if _is_appended(pick, model) and _is_array(pick, model))
    if len(columns) >= _FIELDS:
        return LoopedPick(columns[0], indices, columns[1:], is_array=True)
    rows = [pick for pick in picks if _is_transition(pick, model)]
    if not rows or not any(_is_append(node) for part in loop.body for node in descendants(part)):
        return None
    return LoopedPick(rows[0], indices, (), is_array=False)


def _counted(loop: ast.For, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return `indices[i]` of a loop `for i in range(batch_size)`, and the drawn indices."""
    match loop:
        case ast.For(target=ast.Name(id=count), iter=ast.Call(func=func), orelse=[]) if (
            model.names.qualified(func) == "builtins.range"
        ):
            pass
        case _:
            return None
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Subscript(value=ast.Name() as indices, slice=ast.Name(id=name)) if (
                    name == count and drawn_by(indices, model) is not None
                ):
                    return node, indices
    return None


def _index_of(loop: ast.For, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return the variable that iterates over drawn indices, and the indices."""
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    if drawn_by(loop.iter, model) is not None or _is_permuted(loop.iter, model):
        return loop.target, loop.iter
    if isinstance(loop.iter, (ast.Name, ast.Attribute)) and is_sampling(loop, model):
        return loop.target, loop.iter
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name() as index], value=ast.Subscript(value=order, slice=place)) if (
                not isinstance(place, ast.Slice) and _is_permuted(order, model)
            ):
                return index, order
            case ast.Assign(targets=[ast.Name() as index], value=ast.Call(func=func) as drawn) if last_name(
                func
            ) in _DRAWN_BY and not any(k.arg == "size" for k in drawn.keywords):
                return index, drawn
    return None


def _is_permuted(order: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is `order` after `order = torch.randperm(n)`, or a slice of that."""
    if isinstance(order, ast.Subscript) and isinstance(order.slice, ast.Slice):
        order = order.value
    if not isinstance(order, ast.Name):
        return False
    definitions = model.dataflow.definitions(order)
    return bool(definitions) and all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and isinstance(binding.value, ast.Call)
        and model.names.qualified(binding.value.func) in _PERMUTED
        for binding in definitions
    )


def _is_index(place: ast.expr, index: ast.expr) -> bool:
    """Whether an index is the drawn index `i`, or looked up with the drawn index `indices[i]`."""
    if isinstance(index, ast.Name):
        parts = place.elts if isinstance(place, ast.Tuple) else [place]
        return any(isinstance(part, ast.Name) and part.id == index.id for part in parts)
    return any(isinstance(part, ast.Subscript) and same_code(part, index) for part in descendants(place))


def _is_append(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"


def _is_appended(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an expression is `column.append(held[i])`."""
    parent = model.parent(pick)
    return _is_append(parent) and isinstance(parent, ast.Call) and parent.args == [pick]


def _is_array(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an array or tensor is indexed, or several indices are used at once, which only those allow."""
    tag = model.types.type_of(pick.value).tag
    return tag in _ARRAYS or (tag is TypeTag.UNKNOWN and isinstance(pick.slice, ast.Tuple))


def _is_transition(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether one transition is read from the list of all transitions."""
    held = pick.value
    kind = model.types.type_of(held)
    if not isinstance(held, (ast.Name, ast.Attribute)) or isinstance(pick.slice, ast.Tuple):
        return False
    return last_name(held) is not None and may_hold_transitions(kind) and holds_transitions(held, model)
