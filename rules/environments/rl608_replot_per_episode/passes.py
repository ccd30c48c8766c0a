"""The training iteration of a line: an episode, a step, an epoch."""

from __future__ import annotations

import ast
import re

from rlint.rule import Cadence, Driver, GuardKind, SemanticModel, last_name, regex, roles
from rlint.rules.environments._shared.steps import is_called_training, is_training

EPISODE, PASS = "episode", "pass"
_EPISODES = regex(r"episod|(^|[\W_])(i_)?(ep|eps|epis|games?)([\W_]|$)", re.IGNORECASE)
_PASSES = regex(r"epoch|iter|update|generation|(^|[\W_])(gen|rollouts?|batch|step|frame)", re.IGNORECASE)
_TRAININGS = regex(
    r"(^|[\W_])(seeds?|runs?|agents?|algos?|algorithms?|methods?|models?|configs?|params?|envs?|env_ids?|tasks?"
    r"|experiments?|trials?|folds?|lrs?|gammas?|alphas?|epsilons?)([\W_]|$)",
    re.IGNORECASE,
)
_AGENT = regex(r"agent|learner|trainer|algo|brain|player|dqn|ddpg|td3|sac|ppo|a2c", re.IGNORECASE)
_REMEMBERS = roles.LEARNS | frozenset(
    "experience_replay memorize remember replay store_experience store_transition train_on_batch".split()
)
_TABLE = regex(r"^q(_?(table|values?|sa|matrix|func\w*))?\d?$|^action_values$", re.IGNORECASE)


def pass_of(node: ast.AST, model: SemanticModel) -> str | None:
    """Return what a line of a training runs once for: "environment step", "gradient step", "episode", or
    another "pass" (an epoch, a batch of rollouts). None if it is not training, a loop over whole trainings,
    or not known.
    """
    beat = model.frequency.cadence(node)
    if beat is None or Driver.GENERATION in beat.drivers | beat.nested or not _trains(node, model):
        return None
    if any(guard.kind is GuardKind.ENDS for guard in beat.guards):
        return EPISODE
    if Driver.ENVIRONMENT_STEP in beat.drivers:
        return Driver.ENVIRONMENT_STEP.value
    if not beat.nested & {Driver.ENVIRONMENT_STEP, Driver.GRADIENT_STEP, Driver.BATCH}:
        return Driver.GRADIENT_STEP.value if Driver.GRADIENT_STEP in beat.drivers else None
    if Driver.ENVIRONMENT_STEP in beat.nested and _is_episode(beat):
        return EPISODE
    if _TRAININGS.search(beat.header):
        return None
    return PASS if _PASSES.search(beat.header) else None


def _is_episode(beat: Cadence) -> bool:
    """Whether each iteration of the loop runs one episode."""
    return beat.resets or (bool(_EPISODES.search(beat.header)) and not beat.layered)


def _trains(node: ast.AST, model: SemanticModel) -> bool:
    """Whether it is a training, judging by gradient steps, the function with the loop that runs the line, the
    calls in the loop (`agent.replay()`), or the value table that it writes to.
    """
    beat = model.frequency.cadence(node)
    if is_training(node, model) or (beat is not None and is_called_training(beat.within)):
        return True
    loop = model.frequency.driving_loop(node)
    return loop is not None and any(_learns(part) for part in ast.walk(loop))


def _learns(part: ast.AST) -> bool:
    match part:
        case ast.Call(func=ast.Attribute(value=owner, attr="train" | "fit" | "learn" | "update")):
            return bool(_AGENT.search(last_name(owner) or ""))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _REMEMBERS
        case ast.Subscript(value=table, ctx=ast.Store()):
            while isinstance(table, ast.Subscript):
                table = table.value
            return bool(_TABLE.search(last_name(table) or ""))
    return False
