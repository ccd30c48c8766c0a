"""Loops over indices of rows, each of which writes to the places of its row that a mask selects."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, axes_of, descendants, trip_count, variable_names
from rlint.rules.computation._shared.stratified_draws import is_short
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})


def masked_rows(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return the writes of `for i in cut: x[i, ~inside[i]] = ends[i]`, also with a counter of the iterations,
    if the loop does nothing else.
    """
    row = _row(loop, model)
    if row is None or loop.orelse:
        return None
    if is_short(loop, model) or trip_count.over_components(loop, model):
        return None
    written: list[ast.expr] = []
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=held) as target], value=value) if _selects(
                target, row
            ) and isinstance(value, (ast.Subscript, ast.Name, ast.Constant)):
                written.append(held)
            case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=ast.Constant(value=1)):
                pass
            case _:
                return None
    if not written:
        return None
    text = model.source.text(written[0])
    return ItemLoop(
        written[0],
        f"writes to `{text}` row by row, by a mask for each row,",
        f"Write all rows at once: `np.where(mask, values[:, None], {text})` over the rows",
        sized=True,
    )


def _row(loop: ast.For, model: SemanticModel) -> str | None:
    """Return the variable that numbers the row: of `for i in indices`, an array, or of `range(n)`."""
    if not isinstance(loop.target, ast.Name):
        return None
    match loop.iter:
        case ast.Call(func=func, args=[_]) if model.names.qualified(func) == "builtins.range":
            return loop.target.id
    return loop.target.id if model.types.type_of(loop.iter).tag in _ARRAYS else None


def _selects(target: ast.Subscript, row: str) -> bool:
    """Whether a target is the part of the row `row` that a mask of the same row selects."""
    match axes_of(target.slice):
        case [ast.Name(id=name), mask] if name == row:
            return row in variable_names(mask) and _is_mask(mask)
    return False


def _is_mask(value: ast.expr) -> bool:
    """Whether an index is computed as masks are: `~inside[i]`, `distance[i] > limit`."""
    return any(
        isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert))
        for node in descendants(value)
    )
