"""The old policy of PPO, which is no target network: each update begins or ends with a copy of the policy."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, weight_sync

_OF_VALUES = frozenset("critic critics q qf q1 q2 qs value values v vf qnet dqn".split())
_CLIPS = ("clamp", "clip", "clamp_", "clip_")


def is_old_policy(target: ast.expr, source: ast.expr, model: SemanticModel) -> bool:
    """Whether a network is the policy before an update, whose probabilities the update compares with those
    after it: the file clips their ratio to `1 - epsilon` and `1 + epsilon`, and it is no critic.
    """
    words = weight_sync.words_of(target, model) | weight_sync.words_of(source, model)
    return not words & _OF_VALUES and model.once(_clips_ratio, model.syntax.module)


def _clips_ratio(_: ast.Module, model: SemanticModel) -> bool:
    calls = (call for name in _CLIPS for call in model.names.calls_by_name.get(name, ()))
    return any(any(map(_is_bound, _arguments(call))) for call in calls)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_bound(argument: ast.expr) -> bool:
    """Whether an argument is `1 - epsilon`."""
    match argument:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return isinstance(left, ast.Constant) and left.value == 1 and not isinstance(right, ast.Constant)
    return False
