"""Places of arrays that belong to one iteration of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.rule import SemanticModel, axes_of, descendants, dump_as_read, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import held_by


def are_apart(
    stored: Iterable[ast.Subscript],
    body: Iterable[ast.AST],
    targets: Iterable[ast.expr],
    model: SemanticModel,
) -> bool:
    """Whether the statements of an iteration read the arrays to which it writes only where no other iteration
    does; sums may grow at any place. `targets` are the variables of the loops.
    """
    written = dict[str, list[ast.Subscript]]()
    for target in stored:
        written.setdefault(dump_as_read(held_by(target)), []).append(target)
    sums = {held for held, places in written.items() if all(_grows(place, model) for place in places)}
    counters = set[str]().union(*map(variable_names, targets))
    for node in (part for statement in body for part in descendants(statement)):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            held = dump_as_read(node)
            if held in sums and _is_place_of_sum(node, model):
                continue
            for target in written.get(held, ()):
                if not _is_apart(node, target, counters, model):
                    return False
    return True


def _grows(place: ast.AST, model: SemanticModel) -> bool:
    """Whether a statement only adds to a place: `total[i] += share`."""
    match model.parent(place):
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub()):
            return target is place
    return False


def _is_place_of_sum(held: ast.AST, model: SemanticModel) -> bool:
    """Whether an array is used here to add to one of its elements."""
    element = held
    while isinstance(above := model.parent(element), ast.Subscript) and above.value is element:
        element = above
    return _grows(element, model)


def _is_apart(node: ast.expr, target: ast.Subscript, counters: set[str], model: SemanticModel) -> bool:
    """Whether an array is used only where no other iteration assigns an element of it."""
    element: ast.AST = node
    while isinstance(above := model.parent(element), ast.Subscript) and above.value is element:
        element = above
        if dump_as_read(element) == dump_as_read(target):
            return True
    if not isinstance(element, ast.Subscript):
        match model.parent(node):
            case ast.Attribute(attr="shape" | "size" | "dtype" | "device"):
                return True
            case ast.Call(func=ast.Attribute(attr="to" | "type_as")):
                return True
        return False
    rows = _rows(target, counters)
    return set(rows.values()) == counters and rows.items() <= _rows(element, counters).items()


def _rows(element: ast.Subscript, counters: set[str]) -> dict[int, str]:
    """Return the axes of an element whose place is a variable of a loop."""
    axes: list[ast.expr] = []
    held: ast.expr = element
    while isinstance(held, ast.Subscript):
        axes[:0] = axes_of(held.slice)
        held = held.value
    return {
        number: axis.id
        for number, axis in enumerate(axes)
        if isinstance(axis, ast.Name) and axis.id in counters
    }
