"""Masks of exceptions: elements that are not finite, or almost zero."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name

_NOT_FINITE = frozenset({"isfinite", "isinf", "isnan"})
_ALMOST_ZERO = 1e-3
_DEPTH = 3


def is_under_exception(place: ast.expr, mask: ast.expr, model: SemanticModel) -> bool:
    """Whether a place only runs if a mask of exceptions has elements: `if small.any():`, also by the name of
    the answer, where `small = angles.abs() < 1e-6`.
    """
    if not _selects_exceptions(mask, model):
        return False
    child: ast.AST = place
    for around in model.ancestors(place):
        if isinstance(around, ast.If) and child in around.body and _tests_any(around.test, mask, model):
            return True
        child = around
    return False


def _tests_any(test: ast.expr, mask: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a condition asks whether a mask has elements."""
    match test:
        case ast.Name() if depth:
            value = _value_of(test, model)
            return value is not None and _tests_any(value, mask, model, depth - 1)
        case ast.Call(func=ast.Attribute(attr="any", value=owner)):
            tested = [owner, *test.args]
        case ast.Call(func=ast.Name(id="any"), args=[only]):
            tested = [only]
        case _:
            return False
    return any(ast.dump(each) == ast.dump(mask) for each in tested)


def _selects_exceptions(mask: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a mask selects numbers that are not finite, or smaller than a tiny number."""
    match mask:
        case ast.Name() if depth:
            value = _value_of(mask, model)
            return value is not None and _selects_exceptions(value, model, depth - 1)
        case ast.Compare(ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
            return _is_tiny(bound, model)
    return any(
        last_name(part.func) in _NOT_FINITE for part in descendants(mask) if isinstance(part, ast.Call)
    )


def _is_tiny(bound: ast.expr, model: SemanticModel) -> bool:
    value = _value_of(bound, model) if isinstance(bound, ast.Name) else bound
    return (
        isinstance(value, ast.Constant) and isinstance(value.value, float) and 0 < value.value <= _ALMOST_ZERO
    )


def _value_of(name: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return the value of a variable that one assignment sets."""
    made = model.dataflow.definitions(name)
    return made[0].value if len(made) == 1 and not made[0].path else None
