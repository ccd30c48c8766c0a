"""Statements that remove or add items at the front of a list in other ways than by one method call."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, array_growth, frozen


@frozen
class RewrittenFront:
    """The list `held` is copied or moved without its first items, or with new ones before them. `limit` is
    the largest number of items that are kept, if the statement says so, and `removes` whether items leave
    at the front.
    """

    held: ast.Name | ast.Attribute | ast.Subscript
    limit: ast.expr | None
    removes: bool


def removed_first(call: ast.Call) -> ast.Name | ast.Attribute | ast.Subscript | None:
    """Return the list of `x.remove(x[0])` and `x.__delitem__(0)`."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, attr="remove"),
            args=[ast.Subscript(value=source, slice=ast.Constant(value=0))],
            keywords=[],
        ) if array_growth.same_place(held, source):
            return held
        case ast.Call(
            func=ast.Attribute(
                value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, attr="__delitem__"
            ),
            args=[ast.Constant(value=0)],
            keywords=[],
        ):
            return held
    return None


def rewritten_front(assign: ast.Assign, model: SemanticModel) -> RewrittenFront | None:
    """Return the list of `x = [item] + x`, `x = [*x[1:], item]`, `x[:] = x[1:]`, `x[:1] = []`,
    `first, *x = x`, `first, x = x[0], x[1:]` and similar assignments.
    """
    if len(assign.targets) != 1:
        return None
    match assign.targets[0], assign.value:
        case ast.Tuple(elts=[*firsts, ast.Starred(value=held)]) | ast.List(
            elts=[*firsts, ast.Starred(value=held)]
        ), source if firsts and array_growth.same_place(held, source):
            return _found(held, None, removes=True)
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            pairs = [_rebound(*pair, model) for pair in zip(targets, values, strict=True)]
            return next((pair for pair in pairs if pair is not None), None)
        case ast.Subscript(value=held, slice=ast.Slice(step=None) as written), value:
            return _written(held, written, value, model)
    return _rebound(assign.targets[0], assign.value, model)


def _found(held: ast.expr, limit: ast.expr | None, *, removes: bool) -> RewrittenFront | None:
    if isinstance(held, (ast.Name, ast.Attribute, ast.Subscript)):
        return RewrittenFront(held, limit, removes)
    return None


def _rebound(target: ast.expr, value: ast.expr, model: SemanticModel) -> RewrittenFront | None:
    """Return the list of an assignment of a new list that contains its other items."""
    match value:
        case ast.Subscript(value=whole, slice=ast.Slice(lower=lower, upper=None)) if (
            isinstance(whole, (ast.BinOp, ast.List)) and (kept := _counted_from_end(lower)) is not None
        ):
            # `x = (x + [item])[-limit:]`
            parts = _parts(whole)
            rest = _rest_of(target, parts[0], model) if parts else None
            return _found(target, kept, removes=True) if rest is not None and not rest.drops else None
    parts = _parts(value)
    if not parts:
        return None
    first = _rest_of(target, parts[0], model)
    if first is not None and first.drops:
        return _found(target, None, removes=True)
    last = _rest_of(target, parts[-1], model) if len(parts) > 1 else None
    if last is not None and not last.drops:
        return _found(target, last.limit, removes=False)
    return None


@frozen
class _Rest:
    """A part of a list: `drops` says that it lacks the first items, `limit` is its upper bound."""

    drops: bool
    limit: ast.expr | None = None


def _parts(value: ast.expr) -> list[ast.expr]:
    """Return what a new list is concatenated from: `[item]` and `x` for `[item] + x`, `[item, *x]`."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_parts(left), *_parts(right)]
        case ast.List(elts=[_, *_] as elements) if any(isinstance(each, ast.Starred) for each in elements):
            return [each.value if isinstance(each, ast.Starred) else ast.List([each]) for each in elements]
    return [value]


def _rest_of(target: ast.expr, part: ast.expr, model: SemanticModel) -> _Rest | None:
    """Return which items of the assigned list a part contains; None if it contains others."""
    match part:
        case ast.Subscript(value=source, slice=ast.Slice(lower=lower, upper=upper, step=None)):
            if not array_growth.same_place(target, source):
                return None
            if isinstance(lower, ast.Constant) and lower.value == 1 and upper is None:
                return _Rest(drops=True)
            starts = lower is None or (isinstance(lower, ast.Constant) and lower.value == 0)
            return _Rest(drops=False, limit=upper) if starts else None
        case ast.Call(func=func, args=[source, *bounds], keywords=[]):
            name = model.names.qualified(func)
            if name == "builtins.list" and not bounds:
                return _rest_of(target, source, model)
            skips = len(bounds) > 1 and isinstance(bounds[0], ast.Constant) and bounds[0].value == 1
            if name == "itertools.islice" and skips and array_growth.same_place(target, source):
                return _Rest(drops=True)
            return None
    return _Rest(drops=False) if array_growth.same_place(target, part) else None


def _counted_from_end(lower: ast.expr | None) -> ast.expr | None:
    """Return `limit` of `x[-limit:]`."""
    return lower.operand if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) else None


def _written(
    held: ast.expr, written: ast.Slice, value: ast.expr, model: SemanticModel
) -> RewrittenFront | None:
    """Return the list of `x[:] = x[1:]`, `x[:-1] = x[1:]`, `x[:n] = []` and `x[:0] = items`."""
    lower, upper = written.lower, written.upper
    if lower is not None and not (isinstance(lower, ast.Constant) and lower.value == 0):
        return None
    if isinstance(value, ast.List) and not value.elts and upper is not None:
        limit = kept_by(held, upper)
        few = isinstance(upper, ast.Constant) or limit is not None
        return _found(held, limit, removes=True) if few else None
    if isinstance(upper, ast.Constant) and upper.value == 0:
        return _found(held, None, removes=False)
    whole = upper is None or _counted_from_end(upper) is not None
    rest = _rest_of(held, value, model) if whole else None
    return _found(held, None, removes=True) if rest is not None and rest.drops else None


def kept_by(held: ast.expr, removed: ast.expr) -> ast.expr | None:
    """Return `limit` if as many items are removed as are too many: `len(x) - limit`, `max(0, len(x) -
    limit)`.
    """
    match removed:
        case ast.BinOp(left=ast.Call(func=ast.Name(id="len"), args=[counted]), op=ast.Sub(), right=limit) if (
            array_growth.same_place(counted, held)
        ):
            return limit
        case ast.UnaryOp(op=ast.USub(), operand=limit):
            return limit
        case ast.Call(func=ast.Name(id="max"), args=[first, second], keywords=[]):
            return kept_by(held, first) or kept_by(held, second)
    return None
