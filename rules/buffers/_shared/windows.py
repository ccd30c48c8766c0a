"""Sequences of transitions that begin at a drawn place: `[memory[i] for i in range(start, start + n)]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
    same_code,
)
from rlint.rules.buffers._shared.held import are_few, is_counter
from rlint.rules.buffers._shared.unpacked import is_unpacked, parts_of

_DRAWS = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_FIELDS = 2
_DEPTH = 3
"""Assignments between the draw and the place: `end = draw()`, `start = end - length`."""


def in_window(item: ast.Subscript, model: SemanticModel, *, also_short: bool = False) -> bool:
    """Whether the index of an item runs through a window that begins at a drawn place, and is not surely
    short.
    """
    match item.slice:
        case ast.Name() as index:
            return any(
                is_drawn_place(start, model) and (also_short or not are_few(_length(start, end), model))
                for start, end in _bounds(index, model)
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (is_drawn_place(left, model) and is_counter(right, model)) or (
                is_drawn_place(right, model) and is_counter(left, model)
            )
    return False


def is_sliced_window(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is `islice(memory, start, start + length)` from a drawn place."""
    match call.args:
        case [_, start, _]:
            return model.names.qualified(call.func) == "itertools.islice" and is_drawn_place(start, model)
    return False


def is_drawn_place(place: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether an expression is computed from a drawn integer: `start + 1`, `max(0, end - length)`."""
    match place:
        case ast.Call():
            drawn = any(
                isinstance(node, ast.Call) and last_name(node) in _DRAWS for node in descendants(place)
            )
            return drawn or any(is_drawn_place(each, model, depth) for each in place.args)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return is_drawn_place(left, model, depth) or is_drawn_place(right, model, depth)
        case ast.Name() if depth > 0:
            bindings = model.dataflow.definitions(place)
            assigned = [each.value for each in bindings if each.kind is BindingKind.ASSIGN and not each.path]
            return any(value is not None and is_drawn_place(value, model, depth - 1) for value in assigned)
    return False


def is_taken_apart(item: ast.Subscript, model: SemanticModel) -> bool:
    """Whether the fields of the items are collected, in the loop or from the list that it fills."""
    parent = model.parent(item)
    if isinstance(parent, ast.ListComp) and parent.elt is item:
        unpacked: bool = model.once(is_unpacked, parent)
        return unpacked
    if isinstance(parent, (ast.Attribute, ast.Subscript)):
        return len(_fields_read(item, model)) >= _FIELDS
    match parent:
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            return len(parts) > _FIELDS
        case ast.Assign(targets=[ast.Name() as one]):
            reads = [use for use in model.names.reads(one.id, model.names.scope(one)) if use is not one]
            return len({part for use in reads for part in parts_of(use, model)}) >= _FIELDS or any(
                _is_appended(use, model) for use in reads
            )
    return _is_appended(item, model)


def _is_appended(item: ast.expr, model: SemanticModel) -> bool:
    """Whether an item is appended to a list whose fields are collected afterwards."""
    match model.parent(item):
        case ast.Call(func=ast.Attribute(value=ast.Name() as filled, attr="append"), args=[one]) if (
            one is item
        ):
            created = model.dataflow.definitions(filled)
            return any(
                isinstance(each.value, ast.expr) and model.once(is_unpacked, each.value) for each in created
            )
    return False


def _fields_read(item: ast.Subscript, model: SemanticModel) -> set[str]:
    """Return the fields that a function takes of items of the same list, one by one."""
    function = model.function(item)
    scope: ast.AST = function if function is not None else model.syntax.module
    wanted = ast.dump(item.value)
    return {
        part
        for node in descendants(scope)
        if isinstance(node, ast.Subscript) and ast.dump(node.value) == wanted and model.frequency.loops(node)
        for part in parts_of(node, model)
    }


def _length(start: ast.expr, end: ast.expr) -> ast.expr | None:
    """Return `n` of `range(start, start + n)` or `range(end - n, end)`."""
    match end, start:
        case ast.BinOp(left=left, op=ast.Add(), right=length), _ if same_code(left, start):
            return length
        case _, ast.BinOp(left=left, op=ast.Sub(), right=length) if same_code(left, end):
            return length
    return None


def _bounds(index: ast.Name, model: SemanticModel) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the ends of the ranges that a variable counts through."""
    for binding in model.dataflow.definitions(index):
        match binding.value:
            case ast.Call(func=func, args=[start, end, *_]) if (
                binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION)
                and not binding.path
                and model.names.qualified(func) == "builtins.range"
            ):
                yield start, end
