"""A `time.sleep` in a training loop that waits for nothing.

## What it does
Flags `time.sleep` with a constant number of seconds, also one that a file of settings sets, that a training
loop runs unconditionally in every environment step, gradient step or episode. Such pauses are usually left
over from watching the environment or from debugging.

The rule does not flag:

- pauses in loops that wait for something (`busy-wait-sleep`), and pauses under a condition;
- pauses in evaluation, and in scripts that play or record;
- pauses whose length is computed or passed by the user, because they keep a pace;
- `step` and other methods of environments;
- files that communicate with robots or servers, which set the pace.

## Why is it slow
The process is idle for the whole pause. An environment step takes microseconds to a few milliseconds, so
even a hundredth of a second per step can take most of the training time.

## Example
```python
import time


def train(env, agent, steps: int) -> None:
    state = env.reset()
    for _ in range(steps):
        action = agent.act(state)
        following, reward, done, _ = env.step(action)
        agent.learn(state, action, reward, following, done)
        time.sleep(0.01)
        state = env.reset() if done else following
```
Use instead:
```python
import time


def train(env, agent, steps: int) -> None:
    state = env.reset()
    for _ in range(steps):
        action = agent.act(state)
        following, reward, done, _ = env.step(action)
        agent.learn(state, action, reward, following, done)
        state = env.reset() if done else following
```

## Fix safety
Always unsafe: the pause may give another thread, process or device the time that it needs. There is only
advice where the statement cannot be removed without losing a comment.

## References
- https://docs.python.org/3/library/time.html#time.sleep
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    Applicability,
    Driver,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    numbers,
    regex,
    roles,
)
from rlint.rules.environments._shared.steps import held_back, is_training

_OUTSIDE = frozenset(
    """aiohttp boto3 carla dronekit gpiozero httpx mss naoqi pexpect playwright pyautogui pymavlink rclpy
    requests roslibpy rospy rtde_control rtde_receive RPi selenium serial smbus socket traci urllib urllib3
    websocket websockets zmq""".split()
)
_METHODS = frozenset("step reset render close _step _reset".split())
_STEPS = (Driver.ENVIRONMENT_STEP, Driver.GRADIENT_STEP)
_WATCHED = regex(r"(^|[._])(play|demo|watch|show|record|visuali[sz]e|enjoy|render|test)")


class SleepInTraining(Rule):
    """RL610."""

    code = "RL610"
    name = "sleep-in-training"
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = frozenset({"sleep"})
    triggers = ("sleep",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an unconditional pause in a training loop."""
        statement = model.parent(node)
        if not isinstance(node, ast.Call) or not isinstance(statement, ast.Expr):
            return
        seconds = pause_of(node, model)
        named = constant_of(node, model) if seconds is None else None
        if not (seconds or named) or is_timed_by_environment(node, model):
            return
        when = how_often(statement, model)
        if when is None:
            return
        text = model.source.text(node)
        long = f" for {seconds:g} s" if seconds else ""
        yield self.finding(
            model,
            node,
            f"`{text}` pauses training{long} in every {when} without waiting for anything",
            fix=build_fix(statement, model),
            advice="Remove it, or run it only if a flag enables rendering",
            assumes=f"`{named}` is not 0" if named else None,
        )


def pause_of(call: ast.Call, model: SemanticModel) -> float | None:
    """Return the seconds of a `time.sleep`; None for other calls and durations that are not literals."""
    if model.names.qualified(call.func) != "time.sleep" or len(call.args) != 1:
        return None
    number = numbers.number_of(call.args[0], model)
    return number.value if number is not None and number.fixed else None


def constant_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the source of the argument of a `time.sleep` if it is a number that another file of the project
    sets at module level: `time.sleep(config.pause)`.
    """
    match call:
        case ast.Call(func=func, args=[ast.Name() | ast.Attribute() as named], keywords=[]):
            path = model.names.qualified(named) if model.names.qualified(func) == "time.sleep" else None
            found = model.index.symbol(path, model.analysis.name) if path is not None else None
            is_number = isinstance(found, Type) and found.tag in (TypeTag.INT, TypeTag.FLOAT)
            return model.source.text(named) if is_number else None
    return None


def is_timed_by_environment(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the environment itself or the world outside of the program sets the pace."""
    function = model.function(call)
    if function is not None and function.name in _METHODS:
        return True
    imported = (*model.module.imports.values(), *model.module.star_imports)
    return any(name.partition(".")[0] in _OUTSIDE for name in imported)


def how_often(statement: ast.stmt, model: SemanticModel) -> str | None:
    """Return what the pause runs once for: a step or an episode of a training; None for other pauses."""
    beat = model.frequency.cadence(statement)
    if beat is None or held_back(beat.guards) or is_watched(statement, model):
        return None
    if Driver.GENERATION in beat.drivers | beat.nested or not is_training(statement, model):
        return None
    loops = model.frequency.loops(statement)
    loop = loops[0] if loops else None
    if is_conditional(statement, loop, model):
        return None
    if loop is not None and model.frequency.driving_loop(statement) is not loop:
        return None  # a loop of its own, which may wait for an event
    for driver in _STEPS:
        if driver in beat.drivers:
            return str(driver)
    return "episode" if Driver.ENVIRONMENT_STEP in beat.nested and beat.resets else None


def is_watched(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether the function or the file shows or evaluates a trained policy."""
    if model.usage.is_evaluation(statement):
        return True
    function = model.function(statement)
    called = [model.syntax.qualname(function)] if function is not None else []
    called.append(model.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py"))
    return any(_WATCHED.search(name.lower()) or roles.looks_on(name) for name in called)


def is_conditional(statement: ast.stmt, loop: ast.AST | None, model: SemanticModel) -> bool:
    """Whether a condition inside of the loop decides if a statement runs."""
    for around in model.ancestors(statement):
        if around is loop or isinstance(around, FUNCTIONS):
            return False
        if isinstance(around, (ast.If, ast.ExceptHandler, ast.Match)):
            return True
    return False


def build_fix(statement: ast.stmt, model: SemanticModel) -> Fix | None:
    """Delete the pause."""
    edits = model.edit.delete_statements([statement])
    if not edits:
        return None
    reason = "no other thread, process or device may need the pause"
    return Fix("Remove the pause", Applicability.UNSAFE, tuple(edits), reason)
