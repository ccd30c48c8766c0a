"""Loops over all cells of an array that do something only in those which meet a condition."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, axes_of, descendants, frozen, trip_count, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_LEVELS = 2
_FEW = 100
"""So many cells, as those of a small board, are visited in microseconds."""


@frozen
class _Cells:
    """The array whose cells nested loops visit, the variables that number its rows and columns, and those
    that hold a row or a cell.
    """

    held: ast.expr | None = None
    counters: tuple[str, ...] = ()
    row: str = ""
    cell: str = ""
    depth: int = 0


def tested_cells(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return the test of `for i, row in enumerate(maze): for j, cell in enumerate(row): if cell == wall: …`,
    whatever is done in the cells that meet it. Loops that only collect places are reported otherwise.
    """
    found = _Cells()
    inner, total = loop, 1
    while True:
        entered = _enter(inner, found, model)
        if entered is None:
            return None
        found = entered
        count = trip_count.passes(inner, model)
        total *= count or 0
        if found.depth == _LEVELS:
            break
        if len(inner.body) != 1 or not isinstance(inner.body[0], ast.For):
            return None
        inner = inner.body[0]
    if 0 < total <= _FEW:
        return None
    test = _only_test(inner.body)
    held = _tested(test, found, model) if test is not None else None
    if held is None:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"tests `{text}` cell by cell",
        f"Compare the whole array, and visit only the cells that match: `for i, j in np.argwhere({text} == "
        "value)`",
        _LEVELS,
        sized=True,
    )


def _enter(loop: ast.For, found: _Cells, model: SemanticModel) -> _Cells | None:
    """Return what is known of the visited array with one more loop; None if it visits something else."""
    if loop.orelse:
        return None
    iterable, target, counter = loop.iter, loop.target, ""
    match iterable:
        case ast.Call(func=func, args=[numbered], keywords=[]) if (
            model.names.qualified(func) == "builtins.enumerate"
        ):
            match target:
                case ast.Tuple(elts=[ast.Name(id=counter), ast.Name() as item]):
                    iterable, target = numbered, item
                case _:
                    return None
        case ast.Call(func=func, args=[_, *_], keywords=[]) if model.names.qualified(
            func
        ) == "builtins.range" and isinstance(target, ast.Name):
            return _Cells(found.held, (*found.counters, target.id), found.row, found.cell, found.depth + 1)
    if not isinstance(target, ast.Name):
        return None
    counters = (*found.counters, counter) if counter else found.counters
    if found.depth == 0 and model.types.type_of(iterable).tag in _ARRAYS:
        return _Cells(iterable, counters, target.id, "", 1)
    if found.depth == 1 and isinstance(iterable, ast.Name) and iterable.id == found.row:
        return _Cells(found.held, counters, found.row, target.id, _LEVELS)
    return None


def _only_test(body: list[ast.stmt]) -> ast.expr | None:
    """Return the condition under which a body does anything."""
    match body:
        case [ast.If(test=test, orelse=[])]:
            return test
        case [ast.If(test=test, body=[ast.Continue()], orelse=[]), _, *_]:
            return test
    return None


def _tested(test: ast.expr, found: _Cells, model: SemanticModel) -> ast.expr | None:
    """Return the array whose cell a condition compares with a value that is the same for all cells."""
    match test:
        case ast.BoolOp(op=ast.And(), values=[first, *_]):
            return _tested(first, found, model)
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            for cell, other in ((left, right), (right, left)):
                held = _array_of(cell, found, model)
                own = {*found.counters, found.row, found.cell}
                if held is not None and not variable_names(other) & own and not _calls(other):
                    return held
    return None


def _calls(value: ast.expr) -> bool:
    return any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in descendants(value))


def _array_of(cell: ast.expr, found: _Cells, model: SemanticModel) -> ast.expr | None:
    """Return the array of which an expression is the visited cell."""
    if isinstance(cell, ast.Name):
        return found.held if cell.id == found.cell else None
    held, places = cell, list[str]()
    while isinstance(held, ast.Subscript):
        places[:0] = [part.id if isinstance(part, ast.Name) else "" for part in axes_of(held.slice)]
        held = held.value
    if sorted(places) != sorted(found.counters) or len(places) != _LEVELS:
        return None
    return held if model.types.type_of(held).tag in _ARRAYS else None
