"""Losses that a recurrence adds up, step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, SinkKind, descendants
from rlint.rules.computation.rl506_scalar_reward_loop.carried_values import AnyStepLoop


def adds_up_a_loss(loop: AnyStepLoop, model: SemanticModel) -> bool:
    """Whether a loop adds each step to a value that the function differentiates afterwards: `loss = loss +
    advantage.pow(2)`, then `(loss + value_loss).backward()`.
    """
    return any(
        left.label is SinkKind.LEARNED
        for total in _added(loop)
        for left in model.gradients.variable_sinks(total)
    )


def _added(loop: AnyStepLoop) -> Iterator[ast.Name]:
    for node in descendants(loop):
        match node:
            case ast.AugAssign(target=ast.Name() as total, op=ast.Add() | ast.Sub()):
                yield total
            case ast.Assign(targets=[ast.Name() as total], value=ast.BinOp() as value):
                left: ast.expr = value
                while isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Add, ast.Sub)):
                    left = left.left
                if isinstance(left, ast.Name) and left.id == total.id:
                    yield total
