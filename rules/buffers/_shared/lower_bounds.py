"""Lower bounds of numbers, which the tests before a place have shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, TypeTag, frozen, numbers, same_code

_CONTAINERS = (TypeTag.LIST, TypeTag.DEQUE, TypeTag.TUPLE, TypeTag.DICT, TypeTag.SET)


@frozen
class Bound:
    """A value that is at least another one, or (with `more`) greater. Without `than`, it is true."""

    value: ast.expr
    than: ast.expr | None = None
    more: bool = True


def bounds_at(node: ast.AST, model: SemanticModel) -> Iterator[Bound]:
    """Yield the bounds that hold at a node: those of the tests around it, and of earlier tests that leave
    its block, if nothing changes the values in between.
    """
    for test, outcome in model.branches.tests_before(node):
        for part, taken in _parts(test, is_true=outcome):
            if part is not test and not model.effects.effect_of(test).quiet:
                continue
            for bound in _bounds(part, model, is_true=taken):
                compared = [bound.value] if bound.than is None else [bound.value, bound.than]
                if all(model.dataflow.unchanged_between(each, test, node) for each in compared):
                    yield bound


def _parts(test: ast.expr, *, is_true: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the parts of a test that are known to be true, or false."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand, is_true=not is_true)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) is is_true:
                for value in values:
                    yield from _parts(value, is_true=is_true)
        case _:
            yield test, is_true


def _bounds(test: ast.expr, model: SemanticModel, *, is_true: bool) -> Iterator[Bound]:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=0)]):
            if isinstance(op, ast.NotEq) is is_true and counted_by(left, model) is not None:
                yield Bound(left)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from _compared(left, op, right, is_true=is_true)
        case _ if is_true:
            yield Bound(test)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, *, is_true: bool) -> Iterator[Bound]:
    match op:
        case ast.Gt() | ast.LtE() if isinstance(op, ast.Gt) is is_true:
            yield Bound(left, right)
        case ast.Gt() | ast.LtE():
            yield Bound(right, left, more=False)
        case ast.Lt() | ast.GtE() if isinstance(op, ast.Lt) is is_true:
            yield Bound(right, left)
        case ast.Lt() | ast.GtE():
            yield Bound(left, right, more=False)
        case ast.Eq() if is_true:
            yield Bound(left, right, more=False)
            yield Bound(right, left, more=False)


def is_positive(bound: Bound, model: SemanticModel) -> bool:
    """Whether a bound says that a length is not zero, or a number greater."""
    if bound.than is None:
        return counted_by(bound.value, model) is not None
    number = numbers.number_of(bound.than, model)
    return number is not None and number.fixed and (number.value > 0 or (bound.more and number.value == 0))


def has_items(container: ast.expr, at: ast.AST, model: SemanticModel) -> bool:
    """Whether the tests before a node show that a list or other container has items."""
    for bound in bounds_at(at, model):
        if same_code(counted_by(bound.value, model), container) and is_positive(bound, model):
            return True
        is_container = model.types.type_of(bound.value).tag in _CONTAINERS
        if is_container and bound.than is None and same_code(bound.value, container):
            return True
    return False


def counted_by(expression: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the container whose length an expression is: `x` in `len(x)`."""
    match expression:
        case ast.Call(func=func, args=[counted], keywords=[]):
            return counted if model.names.qualified(func) == "builtins.len" else None
    return None
