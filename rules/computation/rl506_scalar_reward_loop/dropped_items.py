"""Sums of what is left of a sequence of rewards, of which the loop drops one item each time."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, SemanticModel, descendants, last_name
from rlint.rules.computation.rl506_scalar_reward_loop.added_items import is_reward

_DROPS = ("pop", "popleft")


def summed_rest(
    summed: ast.expr, node: ast.AST, model: SemanticModel
) -> tuple[ast.expr, ast.For | ast.While] | None:
    """Return the sequence of `sum(gamma**k * r for k, r in enumerate(rewards))` and the loop around it that
    then drops the first of its items: `rewards = rewards[1:]`, `rewards.pop(0)`, `del rewards[0]`.
    """
    sequence: ast.expr = summed
    if isinstance(summed, (ast.ListComp, ast.GeneratorExp)):
        if len(summed.generators) != 1 or summed.generators[0].ifs:
            return None
        sequence = summed.generators[0].iter
    match sequence:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.enumerate":
            sequence = inner
    if not isinstance(sequence, ast.Name) or not is_reward(last_name(sequence) or ""):
        return None
    for ancestor in model.ancestors(node):
        if isinstance(ancestor, (*FUNCTIONS, ast.Lambda)):
            return None
        if isinstance(ancestor, (ast.For, ast.While)):
            drops = any(_drops_first(part, sequence.id) for part in ancestor.body)
            return (sequence, ancestor) if drops and not _is_refilled(ancestor, sequence.id) else None
    return None


def _drops_first(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.Subscript(
                value=ast.Name(id=held),
                slice=ast.Slice(lower=ast.Constant(value=1), upper=None, step=None),
            ),
        ):
            return target == held == name
        case ast.Delete(targets=[ast.Subscript(value=ast.Name(id=held), slice=ast.Constant(value=0))]):
            return held == name
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and isinstance(part.func.value, ast.Name)
        and part.func.value.id == name
        and part.func.attr in _DROPS
        and (part.func.attr == "popleft" or [ast.dump(each) for each in part.args] == ["Constant(value=0)"])
        for part in descendants(statement)
    )


def _is_refilled(loop: ast.For | ast.While, name: str) -> bool:
    """Whether the loop also adds to the sequence, as to a window of the last rewards."""
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        and part.attr in ("append", "extend", "insert")
        for part in descendants(loop)
    )
