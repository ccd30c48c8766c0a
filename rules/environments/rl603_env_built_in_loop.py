"""An environment, or data that it loads from files, that is created again for each episode.

## What it does
Flags environments that are created in the loop over episodes, or in a function that plays one episode,
always with the same arguments: `env = gym.make("CartPole-v1")` before `env.reset()`, a class of the project
with `step` and `reset`, `make_env(...)`, any function of the project that makes one. The reset may be in a
function that the environment is passed to (`play(env)`). A class of an unknown library is `likely` an
environment if its name ends in `Env` or `Environment`. Settings that a
function is given on every call (`args.env`, `env_id`, `batch_size`) are assumed to stay the same; such
findings are `likely`. So is an environment that the `reset` of another object creates, if it runs in each
step. Also flags data that such loops, or the `reset` of an environment, load from the same file each time:
tables, images, fonts, simulator models.

The rule does not flag:

- environments with another id, seed or setting in each iteration;
- several environments created together;
- one environment per training run;
- environments created at an interval, or under a condition; those in its `else` are flagged.

## Why is it slow
`reset()` begins an episode in microseconds. To create an environment, Gymnasium looks it up in the
registry, imports it, builds its spaces and adds several wrappers; a simulator also compiles its model and
opens its windows. Data loaded in `reset` is read and decoded for each episode, although it never changes.

## Example
```python
import gymnasium as gym


def train(policy, episodes: int) -> list[float]:
    returns = []
    for episode in range(episodes):
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        total, done = 0.0, False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(policy(obs))
            total += reward
            done = terminated or truncated
        returns.append(total)
    return returns
```
Use instead:
```python
import gymnasium as gym


def train(policy, episodes: int) -> list[float]:
    returns = []
    env = gym.make("CartPole-v1")
    for episode in range(episodes):
        obs, _ = env.reset()
        total, done = 0.0, False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(policy(obs))
            total += reward
            done = terminated or truncated
        returns.append(total)
    return returns
```

## Fix safety
Always unsafe. A reused environment keeps all state that `reset()` does not restore: its random stream
continues where a new environment would draw a seed, and wrappers keep their statistics and counters. A
`close()` at the end of each iteration moves after the loop.

There is only advice in functions and in `reset`, and where the variable is assigned more than once, for
example to add wrappers.

## References
- https://gymnasium.farama.org/api/env/#gymnasium.Env.reset
- https://gymnasium.farama.org/api/registry/#gymnasium.make
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    LOOPS,
    Applicability,
    Driver,
    Edit,
    EscapeLevel,
    Finding,
    Fix,
    FunctionSummary,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    arguments_of,
    descendants,
    environments,
    last_name,
    models,
    parameter_of,
    regex,
)
from rlint.rules.environments._shared.each_pass import SELDOM, Again, is_guarded, made_again
from rlint.rules.environments._shared.moved import moved_before

_LOADS = models.having(
    Trait.LOADS,
    *("numpy", "pandas", "scipy.io", "trimesh", "xml.etree.ElementTree"),
    *("cv2", "imageio", "imageio.v2", "imageio.v3", "matplotlib.pyplot", "PIL.Image"),
    *("mujoco.MjModel", "mujoco_py", "pygame.font", "pygame.image", "pygame.mixer"),
)
_NAMED_SO = regex(r"^[A-Z]\w*(Env|Environment)(V?\d+)?$")
_REASON = (
    "the environment keeps state that `reset()` does not restore: its random stream and the counters of "
    "wrappers"
)


class EnvBuiltInLoop(Rule):
    code = "RL603"
    name = "env-built-in-loop"
    seeds = ("S1.E1",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = ("reset",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        loads = model.names.qualified(node.func) in _LOADS
        likely = not loads and not environments.makes_environment(node, model)
        if (likely and not is_environment_class(node.func, model)) or is_wrapped(node, model):
            return
        again = made_again(node, model, likely=not loads, may_branch=not loads and is_otherwise(node, model))
        if again is None:
            return
        often = how_often(again, loads=loads, model=model)
        if often is None or (loads and model.dataflow.use_of(node).escape_level is EscapeLevel.CHANGED):
            return
        text = " ".join(model.source.text(node.func).split())
        where = "before the loop" if again.loop is not None else "in `__init__`"
        if again.loop is None and not (loads or often.startswith("in")):
            where = "outside, and pass it in"
        if loads:
            message = f"`{text}` loads the same data again {often}"
            advice = f"Load it once, {where}"
        else:
            message = f"`{text}` builds the same environment again {often}, where `reset()` would suffice"
            advice = f"Build it once, {where}, and call `reset()` for each episode"
        yield self.finding(
            model,
            node,
            message,
            fix=None if loads or likely else build_fix(again, model),
            advice=advice,
            assumes=again.assumes or (f"`{text}` creates an environment" if likely else None),
        )


def is_environment_class(called: ast.expr, model: SemanticModel) -> bool:
    """Whether a function is a class of an unknown library whose name says that it is an environment."""
    if model.names.qualified(called) is None or model.types.type_of(called):
        return False
    return bool(_NAMED_SO.search(last_name(called) or ""))


def is_wrapped(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is passed to a call that creates an environment from it, which is reported instead."""
    parent = model.parent(call)
    parent = model.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(parent, ast.Call) and environments.makes_environment(parent, model)


def is_otherwise(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is in an `else`, for iterations that are not special in some way: recorded, or rendered."""
    child: ast.AST = call
    for parent in model.ancestors(call):
        if isinstance(parent, ast.If):
            return child in parent.orelse
        if isinstance(parent, (*LOOPS, *FUNCTIONS)):
            return False
        child = parent
    return False


def how_often(again: Again, *, loads: bool, model: SemanticModel) -> str | None:
    """Return how often it is created, in words, if that is once per episode."""
    call = again.call
    if again.loop is not None:
        target = None if loads else target_of(call, model)
        if not loads and target is None:
            return None
        return "for each episode" if resets_in(again.loop, target, call, model) else None
    function = model.function(call)
    if function is None or returned(call, model):
        return None
    if function.name in ("reset", "reset_model", "_reset"):
        own = model.class_of(function)
        is_env = own is not None and model.method(own, "step") is not None
        if is_env or (not loads and model.frequency.heat_of(call).level is Heat.HOT):
            return f"on every `{function.name}`"
        return None
    target = target_of(call, model)
    if loads or target is None or not is_per_episode(call, model):
        return None
    return f"on every call of `{function.name}`" if resets_in(function, target, call, model) else None


def is_per_episode(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function plays an episode in each call, and is called repeatedly: by training code, or by a
    loop of which no condition on the way to the call is known to hold seldom.
    """
    frequency = model.frequency
    if frequency.runs_each_pass(call) or frequency.runs_by_role(call):
        return True
    return (
        frequency.heat_of(call).level is not Heat.COLD
        and frequency.runs_each_pass(call, innermost=True)
        and all(guard.kind not in SELDOM for guard in frequency.guards(call))
    )


def target_of(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the target to which the environment is assigned."""
    entered = model.parent(call)
    if isinstance(entered, ast.withitem):
        return entered.optional_vars
    targets = model.names.targets(call)
    return targets[0] if len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute)) else None


def resets_in(around: ast.AST, target: ast.expr | None, call: ast.Call, model: SemanticModel) -> bool:
    """Whether each iteration of a loop begins one episode in this environment, or each call of a function
    one or several.
    """
    function = model.function(call)
    for reset in model.names.calls_named("reset", function):
        if not isinstance(reset.func, ast.Attribute):
            continue
        owner = reset.func.value
        if target is not None and model.source.text(owner) != model.source.text(target):
            continue
        if target is None and not environments.is_environment(owner, model):
            continue
        if begins_in(around, reset, model):
            return True
    return target is not None and any(
        begins_in(around, run, model) for run in calls_that_reset(target, around, model)
    )


def begins_in(around: ast.AST, reset: ast.Call, model: SemanticModel) -> bool:
    """Whether each iteration of a loop begins one episode by a call, or each call of a function one or
    several.
    """
    if is_guarded(reset, around, model):
        return False
    loops = model.frequency.loops(reset)
    if isinstance(around, FUNCTIONS):
        return not loops or not is_whole_training(reset, model)
    return bool(loops) and loops[0] is around


def calls_that_reset(target: ast.expr, around: ast.AST, model: SemanticModel) -> Iterator[ast.Call]:
    """Yield the calls that pass an environment to a function which resets it: `play_episode(env)`."""
    for call in descendants(around):
        if not isinstance(call, ast.Call):
            continue
        for argument in arguments_of(call):
            if model.source.text(argument) != model.source.text(target):
                continue
            if any(resets(function, argument, call) for function in model.types.call_targets(call)):
                yield call


def resets(function: FunctionSummary, argument: ast.expr, call: ast.Call) -> bool:
    """Whether a function calls `reset` on the parameter that receives an argument."""
    parameter = parameter_of(argument, call, function)
    return parameter is not None and any(
        site.method == "reset" and site.receiver == parameter for site in function.calls
    )


def is_whole_training(reset: ast.Call, model: SemanticModel) -> bool:
    """Whether gradient steps are taken in the loop that begins the episodes."""
    beat = model.frequency.cadence(reset)
    return beat is not None and Driver.GRADIENT_STEP in beat.drivers | beat.nested


def returned(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is returned at once, by a function that creates environments for its callers."""
    return any(isinstance(node, ast.Return) for node in model.ancestors(call) if isinstance(node, ast.stmt))


def build_fix(again: Again, model: SemanticModel) -> Fix | None:
    """Create it before the loop, and close it after."""
    target = target_of(again.call, model)
    if again.loop is None or not isinstance(target, ast.Name):
        return None
    moved = moved_before(again.call, again.loop, "env", model)
    closed = close_once(again.loop, target.id, model)
    if moved is None or closed is None:
        return None
    return Fix(
        "Build the environment once, before the loop", Applicability.UNSAFE, (*moved, *closed), _REASON
    )


def close_once(
    loop: ast.For | ast.AsyncFor | ast.While, name: str, model: SemanticModel
) -> tuple[Edit, ...] | None:
    """Return edits that close the environment once, if the loop closes it in each iteration."""
    closes = [
        call
        for call in model.names.calls_named("close", model.function(loop))
        if isinstance(call.func, ast.Attribute) and model.source.text(call.func.value) == name
    ]
    if not closes:
        return ()
    statement = model.parent(closes[0])
    if len(closes) > 1 or not isinstance(statement, ast.Expr) or statement is not loop.body[-1]:
        return None
    if len(loop.body) < 2 or loop.orelse:
        return None
    deleted, after = model.edit.delete_statement(statement), model.edit.insert_after(loop, f"{name}.close()")
    return (deleted, after) if deleted is not None and after is not None else None
