"""What a loop or comprehension adds up: rewards, or the rewards in items such as transitions."""

from __future__ import annotations

import ast
import re

from rlint.rule import LOOPS, BindingKind, SemanticModel, descendants, regex

_REWARD = regex(r"(^|_)(r|rs|rews?|rewards?|deltas?|returns?|costs?|td_errors?)(_|$)", re.IGNORECASE)
_DISCOUNTS = regex(r"gamma|discount|decay", re.IGNORECASE)


def is_reward(name: str) -> bool:
    """Whether a name is that of rewards or the like."""
    return bool(_REWARD.search(name))


def adds_up(loop: ast.For | ast.While) -> bool:
    """Whether each iteration of a loop only adds to a variable or to one item, and counts."""
    adds = False
    for statement in loop.body:
        match statement:
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, op=ast.Add() | ast.Mult()):
                adds = adds or isinstance(statement.op, ast.Add)
                if isinstance(target, ast.Subscript) and not isinstance(
                    target.slice, (ast.Name, ast.Constant)
                ):
                    return False
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                op = _accumulates(name, value)
                if op is None and not _is_temporary(name, statement, loop):
                    return False
                adds = adds or isinstance(op, ast.Add)
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                return False
    return (
        adds
        and _adds_to_one(loop)
        and not any(isinstance(part, LOOPS) for statement in loop.body for part in descendants(statement))
    )


def _accumulates(name: str, value: ast.expr) -> ast.operator | None:
    """Return the operator of `total = total + x` or `weight = weight * gamma * rho[t]`."""
    if not isinstance(value, ast.BinOp):
        return None
    operator = value.op
    while isinstance(value, ast.BinOp) and type(value.op) is type(operator):
        value = value.left
    is_same = isinstance(value, ast.Name) and value.id == name
    return operator if is_same and isinstance(operator, (ast.Add, ast.Mult)) else None


def _is_temporary(name: str, statement: ast.stmt, loop: ast.For | ast.While) -> bool:
    """Whether an iteration only computes a value for itself, without calls: `later = values[k + 1]`."""
    if any(isinstance(part, ast.Call) for part in descendants(statement)):
        return False
    place = loop.body.index(statement)
    return not any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for before in loop.body[: place + 1]
        for part in descendants(before)
    )


def _adds_to_one(loop: ast.For | ast.While) -> bool:
    """Whether no statement adds to the item that the loop itself counts: `total[k] += rewards[k]`."""
    counter = counter_of(loop)
    return not any(
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.target, ast.Subscript)
        and isinstance(statement.target.slice, ast.Name)
        and (counter is None or statement.target.slice.id == counter)
        for statement in loop.body
    )


def counter_of(node: ast.AST) -> str | None:
    """Return the only variable of a loop or comprehension."""
    match node:
        case ast.For(target=ast.Name(id=counter)):
            return counter
        case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]):
            return generator.target.id if isinstance(generator.target, ast.Name) else None
        case ast.Call(args=[ast.Lambda(args=ast.arguments(args=[taken])), *_]):
            return taken.arg
    return None


def only_value(name: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the value that the only assignment gave to a variable."""
    bindings = model.dataflow.definitions(name) if isinstance(name, ast.Name) else []
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    return bindings[0].value


def is_sum_of(index: ast.expr, one: str, other: str | None) -> bool:
    """Whether an index is the sum of two variables, in any order."""
    match index:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=ast.Name(id=right)):
            return {left, right} == {one, other}
    return False


def adds_field_of_item(node: ast.AST) -> bool:
    """Whether a loop or comprehension over items adds up a reward in each: `gamma**k * step[2] for k, step in
    …`.
    """
    match node:
        case ast.For(target=target):
            pass
        case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]):
            target = generator.target
        case _:
            return False
    items = target.elts if isinstance(target, ast.Tuple) else [target]
    unpacked = [part for item in items if isinstance(item, ast.Tuple) for part in item.elts]
    names = {part.id for part in (*items, *unpacked) if isinstance(part, ast.Name)}
    if isinstance(target, ast.Tuple):
        # `for state, action, reward in …` and `for k, (state, action, reward) in …`
        read = {part.id for part in descendants(node) if isinstance(part, ast.Name) and part.id in names}
        if is_discounted(node) and any(is_reward(name) for name in read):
            return True
    return any(
        isinstance(part, (ast.Attribute, ast.Subscript))
        and isinstance(part.value, ast.Name)
        and part.value.id in names
        and _is_reward_field(part, node)
        for part in descendants(node)
    )


def is_field_added(item: ast.Subscript, node: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop adds up the reward of an item that it looks up: `steps[k][2] * gamma**k`."""
    field = model.parent(item)
    is_field = isinstance(field, (ast.Attribute, ast.Subscript)) and field.value is item
    return is_field and _is_reward_field(field, node)


def _is_reward_field(field: ast.AST | None, node: ast.AST) -> bool:
    """Whether a part of an item is a reward: by its name, or a number that is discounted."""
    match field:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return is_reward(name)
        case ast.Subscript(slice=ast.Constant(value=int())):
            return is_discounted(node)
    return False


def is_discounted(node: ast.AST) -> bool:
    """Whether a loop multiplies by a power, by discounts, or by a variable that it multiplies each time."""
    for part in descendants(node):
        match part:
            case ast.BinOp(op=ast.Pow()) | ast.AugAssign(target=ast.Name(), op=ast.Mult()):
                return True
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left), op=ast.Mult())
            ) if name == left:
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if _DISCOUNTS.search(name):
                return True
    return False
