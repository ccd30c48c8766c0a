"""Discounted sums of a few rewards, added up in Python for each position of each sampled sequence."""

from __future__ import annotations

import ast
import re

from rlint.rule import LOOPS, SemanticModel, descendants, regex

_DISCOUNTS = regex(r"gamma|discount", re.IGNORECASE)


def discounted_sum(loop: ast.For, model: SemanticModel) -> bool:
    """Whether a loop only adds up `reward * gamma**i` for the rewards from one position on, and runs for each
    of many positions.
    """
    counter = _counter(loop, model)
    if counter is None or any(isinstance(node, LOOPS) for part in loop.body for node in descendants(part)):
        return False
    if not any(_adds_term(node, counter) for part in loop.body for node in descendants(part)):
        return False
    around = model.frequency.loops(loop)
    if around:
        return model.frequency.driving_loop(loop) is not around[0]
    return _is_window(loop) and bool(model.frequency.is_called_in_loops(loop))


def _is_window(loop: ast.For) -> bool:
    """Whether a loop runs over the rewards of one position on: `rewards[t : t + n]`."""
    match loop.iter:
        case ast.Call(args=[ast.Subscript(slice=ast.Slice(lower=ast.expr()))]):
            return True
    return False


def _counter(loop: ast.For, model: SemanticModel) -> str | None:
    """Return the variable that counts the rewards: of `enumerate(rewards[t:end])`, of `range(n)`."""
    match loop.iter, loop.target:
        case ast.Call(func=func, args=[_]), ast.Tuple(elts=[ast.Name(id=name), _]):
            return name if model.names.qualified(func) == "builtins.enumerate" else None
        case ast.Call(func=func, args=[_]), ast.Name(id=name):
            return name if model.names.qualified(func) == "builtins.range" else None
    return None


def _adds_term(node: ast.AST, counter: str) -> bool:
    match node:
        case ast.AugAssign(op=ast.Add(), value=value):
            adds = _is_discounted(value, counter)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=left, op=ast.Add(), right=right)):
            adds = any(
                isinstance(one, ast.Name) and one.id == name and _is_discounted(other, counter)
                for one, other in ((left, right), (right, left))
            )
        case _:
            return False
    return adds and not any(isinstance(part, ast.Slice) for part in descendants(node))  # no whole column


def _is_discounted(term: ast.expr, counter: str) -> bool:
    """Whether a term is a product with `gamma**i`."""
    match term:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(
                _is_power(factor, counter) or _is_discounted(factor, counter) for factor in (left, right)
            )
    return False


def _is_power(factor: ast.expr, counter: str) -> bool:
    match factor:
        case ast.BinOp(
            left=ast.Name(id=base) | ast.Attribute(attr=base), op=ast.Pow(), right=ast.Name(id=name)
        ):
            return name == counter and bool(_DISCOUNTS.search(base))
        case ast.Call(
            func=ast.Name(id="pow") | ast.Attribute(attr="pow" | "power"),
            args=[ast.Name(id=base) | ast.Attribute(attr=base), ast.Name(id=name)],
        ):
            return name == counter and bool(_DISCOUNTS.search(base))
    return False
