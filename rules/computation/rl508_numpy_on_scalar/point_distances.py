"""Distances between two points whose coordinates NumPy first converts to arrays."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, algebra
from rlint.rules.computation.rl508_numpy_on_scalar.scalar_calls import Scalar

_NORM = "numpy.linalg.norm"
_FROM_DATA = frozenset({"numpy.array", "numpy.asarray"})
_MANY = 16
_MAY_BE_POINTS = frozenset({TypeTag.TUPLE, TypeTag.LIST, TypeTag.UNKNOWN})


def point_distance(call: ast.Call, model: SemanticModel) -> Scalar | None:
    """Return the distance of `np.linalg.norm(np.array(a) - np.array(b))`, also with variables for the arrays,
    which `math.dist(a, b)` computes without any array.
    """
    match call:
        case ast.Call(args=[ast.BinOp(op=ast.Sub(), left=left, right=right)], keywords=[]):
            pass
        case _:
            return None
    if model.names.qualified(call.func) != _NORM:
        return None
    points = [point for side in (left, right) if (point := _point(side, model)) is not None]
    if len(points) != 2:
        return None
    texts = [model.source.text(point) for point in points]
    unknown = [
        text for text, point in zip(texts, points, strict=True) if not model.types.type_of(point).parts
    ]
    return Scalar(
        call,
        tuple(points),
        "math.dist",
        f"{{math}}({', '.join(texts)})",
        math="dist",
        what="two points",
        assumes=f"`{unknown[0]}` is a short sequence of numbers" if unknown else None,
    )


def _point(side: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the sequence of which an operand is an array, made only for this difference."""
    if isinstance(side, ast.Name):
        made = model.dataflow.definitions(side)
        scope = model.names.scope(side).lookup(side.id)
        if len(made) != 1 or scope is None or not scope.is_function:
            return None
        if made[0].kind is not BindingKind.ASSIGN or made[0].path or made[0].value is None:
            return None
        if any(read is not side for read in model.names.reads(side.id, scope)):
            return None
        side = made[0].value
    match side:
        case ast.Call(func=func, args=[point], keywords=[]) if model.names.qualified(func) in _FROM_DATA:
            kind = model.types.type_of(point)
            is_long = len(kind.parts) > _MANY or (kind.tag is TypeTag.LIST and not _is_short(point))
            numbers = not kind.item or algebra.is_immutable(kind.item)
            return point if kind.tag in _MAY_BE_POINTS and numbers and not is_long else None
    return None


def _is_short(point: ast.expr) -> bool:
    return isinstance(point, ast.List) and len(point.elts) <= _MANY
