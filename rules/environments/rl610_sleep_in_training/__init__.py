"""A `time.sleep` in a training loop that waits for nothing.

## What it does
Flags pauses of a constant length that a training loop makes unconditionally in every environment step,
gradient step or episode: `time.sleep` and `asyncio.sleep`, `wait` of an event that no other code has,
`select` without files, the `sleep` command, `tick` of a pygame clock. The length may also be the default of a
parameter, field or option (likely), or a constant of a file of settings. Such pauses are usually left over
from watching the environment or from debugging.

The rule does not flag:

- pauses in loops that wait for something (`busy-wait-sleep`), and pauses under a condition;
- pauses in evaluation, and in scripts that play or record;
- pauses whose length is computed, because they keep a pace, and those that are off by default;
- pauses of a set length between the gradient steps of a learner whose data other processes collect;
- methods of environments, except the `step` of a simulation (pybullet, MuJoCo);
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
    AnyLoop,
    Applicability,
    Driver,
    Finding,
    Fix,
    Heat,
    Impact,
    ImpactLevel,
    Rule,
    SemanticModel,
    descendants,
    last_names,
    regex,
    roles,
    waiting_words,
)
from rlint.rules.environments._shared.steps import (
    file_name,
    held_back,
    is_training,
    step_of_own_environment,
)
from rlint.rules.environments.rl610_sleep_in_training.idle_pauses import pause_of

_OUTSIDE = frozenset(
    """aiohttp boto3 carla dronekit gpiozero httpx mss naoqi pexpect playwright pyautogui pymavlink rclpy
    requests roslibpy rospy rtde_control rtde_receive RPi selenium serial smbus socket traci urllib urllib3
    websocket websockets zmq""".split()
)
_LONG = 0.1
"""Seconds of a pause that is long beside an episode of 100 steps, each of a few milliseconds at most."""
_METHODS = frozenset("step reset render close _step _reset".split())
_STEPS = (Driver.ENVIRONMENT_STEP, Driver.GRADIENT_STEP)
_WAITS = frozenset({"wait", "select"}.union(*waiting_words.FRAME_CLOCKS.values()))
_HARDWARE = regex(
    r"(^|[._])(hardware|firmware|servos?|feetech|dynamixel|gpio|real_?robots?|motor_?(bus|driver))([._]|$)"
)
"""Parts of the paths of modules that drive devices."""
_WATCHED = regex(r"(^|[._])(play|demo|watch|show|record|visuali[sz]e|enjoy|render|test)")


class SleepInTraining(Rule):
    """RL610."""

    code = "RL610"
    name = "sleep-in-training"
    claims = ("time",)
    concerns_waiting = True
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = frozenset({*last_names(*waiting_words.PAUSES, *waiting_words.RUN_COMMANDS), *_WAITS})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an unconditional pause in a training loop."""
        statement = model.parent(node)
        if isinstance(statement, ast.Await):
            statement = model.parent(statement)
        if not isinstance(node, ast.Call) or not isinstance(statement, ast.Expr):
            return
        pause = pause_of(node, model)
        if pause is None or is_timed_from_outside(model):
            return
        when = how_often(statement, model)
        if when is None or (pause.assumes and paces_learner(statement, model)):
            return
        text = model.source.text(node)
        up_to = " up to" if pause.is_limit else ""
        long = f" for{up_to} {pause.seconds:.2g} s" if pause.seconds else ""
        yield self.finding(
            model,
            node,
            f"`{text}` pauses training{long} in every {when} without waiting for anything",
            fix=build_fix(statement, model),
            advice="Remove it, or run it only if a flag enables rendering",
            assumes=pause.assumes,
            stated=impact_of(pause.seconds, when),
        )


def impact_of(seconds: float | None, when: str) -> Impact | None:
    """Return the impact of a pause by its length, which is the time that is lost; None if it is not known."""
    if not seconds:
        return None
    long = _LONG if when == "episode" else _LONG / 100
    level = ImpactLevel.HIGH if seconds >= long else ImpactLevel.MEDIUM
    return Impact(level, f"the pause itself takes {seconds:.2g} s of every {when}")


def is_timed_from_outside(model: SemanticModel) -> bool:
    """Whether the world outside of the program may set the pace, judging by the imports of the file."""
    imported = (*model.module.imports.values(), *model.module.star_imports)
    return imports_any(_OUTSIDE, model) or any(_HARDWARE.search(name.lower()) for name in imported)


def imports_any(packages: frozenset[str], model: SemanticModel) -> bool:
    """Whether a file imports one of some packages, or a part of one."""
    return not packages.isdisjoint(model.module.packages)


def how_often(statement: ast.stmt, model: SemanticModel) -> str | None:
    """Return what the pause runs once for: a step or an episode of a training; None for other pauses."""
    beat = model.frequency.cadence(statement)
    if beat is None or held_back(beat.guards) or is_watched(statement, model):
        return None
    function = model.function(statement)
    if function is not None and function.name in _METHODS:
        return in_simulation(statement, model) if function.name == "step" else None
    if Driver.GENERATION in beat.drivers | beat.nested or not is_training(statement, model):
        return None
    loops = model.frequency.loops(statement)
    loop = loops[0] if loops else None
    if is_conditional(statement, loop, model):
        return None
    if loop is not None and model.frequency.driving_loop(statement) is not loop and may_wait(loop):
        return None
    for driver in _STEPS:
        if driver in beat.drivers:
            return str(driver)
    return "episode" if Driver.ENVIRONMENT_STEP in beat.nested and beat.resets else None


def in_simulation(statement: ast.stmt, model: SemanticModel) -> str | None:
    """Return the environment step if a pause is part of each step of a simulated environment. The pace of
    other environments may be that of a device or a game.
    """
    loops = model.frequency.loops(statement)
    if is_conditional(statement, None, model) or any(map(may_wait, loops)):
        return None
    if not imports_any(waiting_words.SIMULATED, model):
        return None
    step = step_of_own_environment(statement, model, in_loops=True)
    return str(step) if step is not None else None


def paces_learner(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a pause gives other processes time to collect: its loop takes gradient steps and no environment
    steps, on what it gets from them, or it runs in a worker of its own.
    """
    loops = model.frequency.loops(statement)
    beat = model.frequency.cadence(statement)
    if not loops or beat is None or Driver.ENVIRONMENT_STEP in beat.drivers | beat.nested:
        return False
    runners = model.threads.runners(statement)
    return bool(runners.starts and not runners.other_starts) or any(
        gets_from_other_process(node, model) for node in descendants(loops[0]) if isinstance(node, ast.Call)
    )


def gets_from_other_process(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call gets something from another process or thread: of an actor of Ray, or a queue."""
    match call.func:
        case ast.Attribute(value=ast.Attribute(), attr="remote"):
            return "ray" in model.module.packages
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr="get" | "get_nowait" | "recv"):
            return bool(model.threads.channel_makers(owner))
    return False


def may_wait(loop: AnyLoop) -> bool:
    """Whether a loop of its own may wait for an event, which ends it."""
    return not isinstance(loop, ast.For) or any(
        isinstance(node, (ast.Break, ast.Return, ast.Try)) for node in descendants(loop)
    )


def is_watched(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether the function or the file shows or evaluates a trained policy."""
    if model.usage.is_evaluation(statement):
        return True
    function = model.function(statement)
    called = [model.syntax.qualname(function)] if function is not None else []
    called.append(file_name(model))
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
