"""Losses that a recurrence adds up, step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, descendants
from rlint.rules.computation.rl506_scalar_reward_loop.carried_values import AnyStepLoop

_DEPTH = 4


def adds_up_a_loss(loop: AnyStepLoop, model: SemanticModel) -> bool:
    """Whether a loop adds each step to a value that the function differentiates afterwards: `loss = loss +
    advantage.pow(2)`, then `(loss + value_loss).backward()`.
    """
    function = model.function(loop)
    added = set(_added(loop))
    if function is None or not added:
        return False
    return any(
        _depends_on(node.func.value, added, model, _DEPTH)
        for node in descendants(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
    )


def _added(loop: AnyStepLoop) -> Iterator[str]:
    for node in descendants(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add() | ast.Sub()) as value):
                left: ast.expr = value
                while isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Add, ast.Sub)):
                    left = left.left
                if isinstance(left, ast.Name) and left.id == name:
                    yield name


def _depends_on(value: ast.expr, names: set[str], model: SemanticModel, depth: int) -> bool:
    """Whether a value is computed from one of some variables, also by way of others."""
    for part in descendants(value):
        if not isinstance(part, ast.Name):
            continue
        if part.id in names:
            return True
        for binding in model.dataflow.definitions(part) if depth > 0 else ():
            held = binding.value
            if held is not None and held is not value and _depends_on(held, names, model, depth - 1):
                return True
    return False
