"""Forms in which a value is kept (for RL318): added to a sum or an average, or put into a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Binding,
    descendants,
    frozen,
    last_name,
    same_code,
)

_ACCESS = (ast.Name, ast.Attribute, ast.Subscript)
_VALUES = (*_ACCESS, ast.Call, ast.BinOp)
_ADDING = frozenset({"add", "sub", "lerp", "add_", "sub_"})
_SUMS = _ADDING | {"sum"}
PUTS_INTO = frozenset({"append", "extend", "insert"})
IN_PLACE = frozenset({"add_", "sub_"})


@frozen
class Kept:
    """`node` adds `value` to the container `keeper`."""

    node: ast.AST
    keeper: ast.expr
    value: ast.expr
    is_sum: bool = False
    whole: ast.expr | None = None
    """What to detach instead, if more than `value` keeps a graph."""


def kept_by(node: ast.AST) -> list[Kept]:
    """Return the values kept by `total += loss`, `mean = 0.9 * mean + 0.1 * loss`, `losses += [loss]` and
    `losses.append({"critic": loss, "step": step})`, each item by itself.
    """
    match node:
        case ast.AugAssign(target=keeper, op=ast.Add(), value=ast.List(elts=values)):
            found = [Kept(node, keeper, value) for value in values]
        case ast.AugAssign(target=keeper, op=ast.Add() | ast.Sub(), value=value):
            found = [Kept(node, keeper, value, is_sum=True)]
        case ast.Assign(
            targets=[ast.Name() | ast.Attribute() | ast.Subscript() as keeper],
            value=ast.BinOp() | ast.IfExp() | ast.Call() | ast.DictComp() | ast.Dict() | ast.List() as value,
        ):
            found = list(_assigned(node, keeper, value))
        case ast.Call(func=ast.Attribute(value=keeper, attr=method), args=args, keywords=[]):
            found = list(_called(node, keeper, method, args))
        case _:
            return []
    return [item for kept in found for item in _items(kept) if isinstance(item.keeper, _ACCESS)]


def _called(node: ast.Call, keeper: ast.expr, method: str, args: list[ast.expr]) -> Iterator[Kept]:
    match method, args:
        case "append", [value]:
            yield Kept(node, keeper, value)
        case "insert", [_, value]:
            yield Kept(node, keeper, value)
        case "extend", [ast.List(elts=values) | ast.Tuple(elts=values)]:
            for value in values:
                yield Kept(node, keeper, value)
        case (("add_" | "sub_"), [value]):
            yield Kept(node, keeper, value, is_sum=True)


def _items(kept: Kept) -> Iterator[Kept]:
    """Yield what is kept as separate values."""
    match kept.value:
        case ast.Dict(values=values):
            pass
        case ast.Tuple(elts=values) | ast.List(elts=values) if not kept.is_sum:
            pass
        case _:
            values = [kept.value]
    for value in values:
        if isinstance(value, _VALUES):
            yield Kept(kept.node, kept.keeper, value, kept.is_sum, kept.whole)


def adds_to(binding: Binding) -> bool:
    """Whether a variable is bound to its former value with more added: `losses = [*losses, loss]`."""
    match binding.statement:
        case ast.Assign(targets=[ast.Name() as keeper], value=value) as node:
            return any(_assigned(node, keeper, value))
    return False


def _assigned(node: ast.Assign, keeper: ast.expr, value: ast.expr) -> Iterator[Kept]:
    match value:
        case ast.List(elts=[ast.Starred(value=old), *values]) if _reads(old, keeper):
            for each in values:
                yield Kept(node, keeper, each)
        case ast.BinOp(left=old, op=ast.Add(), right=ast.List(elts=values)) if _reads(old, keeper):
            for each in values:
                yield Kept(node, keeper, each)
        case ast.Dict(values=values) if isinstance(keeper, ast.Name):
            for each in values:
                yield from _Sum(node, keeper, of_items=True).terms(each)
        case ast.DictComp(value=each) if isinstance(keeper, ast.Name):
            yield from _Sum(node, keeper, of_items=True).terms(each)
        case ast.BinOp() | ast.IfExp() | ast.Call():
            yield from _Sum(node, keeper).terms(value)


@frozen
class _Sum:
    """An assignment of a variable, or of the items of its dict, to a value computed from the former one."""

    node: ast.Assign
    keeper: ast.expr
    of_items: bool = False

    def terms(self, value: ast.expr) -> Iterator[Kept]:
        """Yield the terms that the value adds to the former one."""
        if not _may_add(value) or not self._has(value):
            return  # most assignments
        whole = value if any(isinstance(part, ast.IfExp) for part in descendants(value)) else None
        for each in self._added(value):
            yield Kept(self.node, self.keeper, each, is_sum=True, whole=whole)

    def _added(self, value: ast.expr) -> Iterator[ast.expr]:
        if self._is_former(value):
            return
        match value:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                old, new = (left, right) if self._has(left) else (right, left)
                if self._has(old) and not self._has(new):
                    yield from self._added(old)
                    yield new
            case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
                yield from self._added_in(left, right)
            case ast.UnaryOp(operand=operand):
                yield from self._added(operand)
            case ast.IfExp(body=body, orelse=orelse):
                yield from self._added_in(body, orelse)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args) if method in _ADDING:
                parts = [owner, *args] if self._has(owner) else args
                if len(parts) > 1 and self._has(parts[0]):
                    yield from self._added(parts[0])
                    yield parts[1]
            case ast.Call(func=ast.Name(id="sum"), args=[values, start]) if self._has(start):
                yield values

    def _added_in(self, *parts: ast.expr) -> Iterator[ast.expr]:
        for part in parts:
            if self._has(part):
                yield from self._added(part)

    def _has(self, part: ast.expr) -> bool:
        return any(map(self._is_former, descendants(part)))

    def _is_former(self, part: ast.AST) -> bool:
        """Whether an expression is the former value: `total`, `totals[key]`, `totals.get(key, 0)`."""
        if not self.of_items:
            return isinstance(part, _ACCESS) and _reads(part, self.keeper)
        match part:
            case ast.Subscript(value=owner) | ast.Call(func=ast.Attribute(value=owner, attr="get")):
                return _reads(owner, self.keeper)
        return False


def _may_add(value: ast.expr) -> bool:
    """Whether an expression has a form that adds to a former value."""
    if isinstance(value, ast.Call):
        return last_name(value.func) in _SUMS
    return isinstance(value, (ast.BinOp, ast.UnaryOp, ast.IfExp))


def _reads(term: ast.AST, target: ast.expr) -> bool:
    """Whether a term of a sum is the variable that the sum is assigned to."""
    match term, target:
        case ast.Name(id=name), ast.Name(id=other):
            return name == other
        case ast.Attribute(attr=name), ast.Attribute(attr=other):
            return name == other and same_code(term.value, target.value)
        case ast.Subscript(), ast.Subscript():
            return same_code(term.value, target.value) and same_code(term.slice, target.slice)
    return False
