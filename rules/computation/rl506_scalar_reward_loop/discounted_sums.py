"""Discounted sums of a few rewards, added up in Python for each position of each sampled sequence."""

from __future__ import annotations

import ast
import re
from typing import TypeAlias

from rlint.rule import LOOPS, Binding, BindingKind, Heat, SemanticModel, descendants, regex

_DISCOUNTS = regex(r"gamma|discount", re.IGNORECASE)


Adds: TypeAlias = "ast.For | ast.Call"


def discounted_sum(node: Adds, model: SemanticModel) -> bool:
    """Whether a loop, or the sum of a comprehension, only adds up `reward * gamma**i` for the rewards from
    one position on, and hot code or nested loops run it for each of many positions.
    """
    iterated = _of_loop(node, model) if isinstance(node, ast.For) else _of_comprehension(node, model)
    if iterated is None:
        return False
    is_hot: bool = model.frequency.heat_of(node).level is Heat.HOT
    around = model.frequency.loops(node)
    if around:
        return is_hot and model.frequency.driving_loop(node) is not around[0]
    return _is_window(iterated) and bool(
        (is_hot and model.frequency.is_called_in_loops(node))
        or model.frequency.is_called_in_loops(node, nested=True)
    )


def _of_loop(loop: ast.For, model: SemanticModel) -> ast.expr | None:
    """Return what a loop iterates over that adds up discounted rewards."""
    counter = _counter(loop.iter, loop.target, model)
    if counter is None or any(isinstance(node, LOOPS) for part in loop.body for node in descendants(part)):
        return None
    adds = any(_adds_term(node, counter) for part in loop.body for node in descendants(part))
    return loop.iter if adds else None


def _of_comprehension(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return what a comprehension iterates over, the sum of whose items is one of discounted rewards:
    `sum(reward * gamma**i for i, reward in enumerate(rewards[t : t + n]))`. It may be in a variable.
    """
    made = call.args[0] if call.args else None
    if isinstance(made, ast.Name):
        match model.dataflow.definitions(made):
            case [Binding(kind=BindingKind.ASSIGN, path=(), value=made)]:
                pass
    match made:
        case ast.ListComp(elt=term, generators=[clause]) | ast.GeneratorExp(elt=term, generators=[clause]):
            counter = _counter(clause.iter, clause.target, model)
            is_sum = counter is not None and _is_discounted(term, counter) and _is_window(clause.iter)
            return clause.iter if is_sum else None
    return None


def _is_window(iterated: ast.expr) -> bool:
    """Whether the rewards are those of one position on: `rewards[t : t + n]`."""
    match iterated:
        case ast.Call(args=[ast.Subscript(slice=ast.Slice(lower=ast.expr()))]):
            return True
    return False


def _counter(iterated: ast.expr, target: ast.expr, model: SemanticModel) -> str | None:
    """Return the variable that counts the rewards: of `enumerate(rewards[t:end])`, of `range(n)`."""
    match iterated, target:
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
