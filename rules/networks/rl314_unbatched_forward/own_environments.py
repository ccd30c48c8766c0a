"""Environments that each iteration of a loop sets to its own state, as the expansion of a search tree."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, Driver, SemanticModel, descendants, is_in, last_name

RESTORES = frozenset({"set_state", "restore", "restore_state", "load_state", "set_env_state", "reset_to"})
_COPIES = frozenset({"deepcopy", "copy", "clone", "fork"})


def is_own_step(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a call steps an environment that the iteration copied or set to a state before: `child =
    deepcopy(env)`, or `env.set_state(node.state)`.
    """
    if not isinstance(call.func, ast.Attribute) or (
        model.analysis.loops.driver_of(call) is not Driver.ENVIRONMENT_STEP
    ):
        return False
    owner = call.func.value
    if isinstance(owner, ast.Name):
        values = [
            binding.value if is_in(binding.node, loop) else None
            for binding in model.dataflow.definitions(owner)
        ]
        if values and all(
            isinstance(value, ast.Call) and last_name(value.func) in _COPIES for value in values
        ):
            return True
    restores = model.once(_restores_in, loop)
    text = ast.dump(owner) if restores else ""
    return any(dump == text and _is_before(node, call, model) for node, dump in restores)


def _restores_in(loop: AnyLoop, _: SemanticModel) -> list[tuple[ast.Call, str]]:
    """Return the calls in a loop that set the state of an environment, each with its receiver."""
    return [
        (node, ast.dump(node.func.value))
        for node in descendants(loop)
        if isinstance(node, ast.Call) and is_restore(node) and isinstance(node.func, ast.Attribute)
    ]


def is_restore(call: ast.Call) -> bool:
    """Whether a call sets the state of an environment."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in RESTORES and bool(call.args)


def _is_before(restore: ast.Call, step: ast.Call, model: SemanticModel) -> bool:
    """Whether the same block restores the state before the step."""
    first, second = model.syntax.statement(restore), model.syntax.statement(step)
    block, index = model.syntax.block(first)
    return any(second is each or is_in(second, each) for each in block[index + 1 :])
