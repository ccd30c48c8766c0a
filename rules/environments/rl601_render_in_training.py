"""An environment rendered in every step of training.

## What it does
Flags `env.render()` that runs once per environment step of training without a condition: no flag and no
interval over steps or episodes, in the function or in its callers. Also flags `render_mode="human"`, which
renders every step by itself, for an environment that a training loop steps, or that is passed on by code
which creates an optimizer or calls `train`, `learn` or similar later (likely). Conditions that select what is
trained (`if ENV == "Pendulum":`) hold in all steps or in none: the finding is then likely.

The rule does not flag rendering in code that plays, tests, records or evaluates, or that shows the result of
a training that it called before, in environments and their wrappers, and where the returned frame is used.

## Why is it slow
Rendering a frame takes as long as hundreds of steps of a small environment, and a window is limited to some
tens of frames per second.

## Example
```python
import gymnasium


def train(agent, episodes: int) -> None:
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    for episode in range(episodes):
        state, _ = env.reset()
        over = False
        while not over:
            env.render()
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            agent.train_step(state, reward)
            over = terminated or truncated
```
Use instead:
```python
import gymnasium


def train(agent, episodes: int) -> None:
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    for episode in range(episodes):
        state, _ = env.reset()
        over = False
        while not over:
            if episode % 100 == 0:
                env.render()
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            agent.train_step(state, reward)
            over = terminated or truncated
```

## Fix safety
Always unsafe: only one of a hundred episodes is shown, and wrappers that record frames get fewer of them.
The fix counts steps where no loop counts episodes; where neither is counted, there is only advice.

For `render_mode="human"`, the fix removes the argument, and nothing is rendered. An `env.render()`
elsewhere would then only give a warning, so there is no fix where the file contains one.

## References
- https://gymnasium.farama.org/api/env/#gymnasium.Env.render
- https://gymnasium.farama.org/introduction/record_agent/
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Driver,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TrainingStep,
    Trait,
    TypeTag,
    last_name,
    models,
    regex,
    roles,
)
from rlint.rules.environments._shared.every_nth import counter_at, counts_passes
from rlint.rules.environments._shared.steps import (
    chooses_task,
    is_called_training,
    is_free,
    stands_free,
    unguarded_step,
)

PERIOD = 100
_ENVIRONMENT = regex(r"(^|_)envs?($|_)|^(game|simulator|world)$")
_TO_WATCH = regex(r"eval|test|play|demo|watch|record|video|render|human")
_NO_WINDOW = "no window is shown any more"
_LOOKS = models.having(Trait.ONLY_LOOKS, "builtins") | {"builtins.print"}
_METHODS = frozenset("render step reset observation reward close".split())


class RenderInTraining(Rule):
    """RL601."""

    code = "RL601"
    name = "render-in-training"
    seeds = ("S1.E2",)
    claims = ("time",)
    heat = Heat.COLD
    visits = (ast.Call,)
    triggers = ("render",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that renders, or for an environment created with rendering."""
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "render":
            yield from self.check_render(node, node.func.value, model)
        elif node.keywords and "render_mode" in (keyword.arg for keyword in node.keywords):
            if not isinstance(next(iter(model.names.targets(node)), None), ast.Attribute):
                found = list(self.check_mode(node, model))
                yield from found or self.check_passed(node, model)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            for made in created_for(node.func.value, model):
                if trained_step(made, model) is node and isinstance(
                    call := model.names.assigned(made), ast.Call
                ):
                    yield from self.check_mode(call, model)

    def check_render(self, call: ast.Call, env: ast.expr, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a statement `env.render()`."""
        statement = model.parent(call)
        if not isinstance(statement, ast.Expr) or not is_environment(env, model):
            return
        function = model.function(call)
        if function is not None and function.name in _METHODS:
            return  # an environment, or a wrapper of one
        beat = model.frequency.cadence(statement)
        if beat is None or unguarded_step(statement, model, apart_from=chooses_task) is not (
            Driver.ENVIRONMENT_STEP
        ):
            return
        if model.frequency.heat_of(call).level is not Heat.HOT:
            return
        if not is_free(tuple(guard for guard in beat.around if not chooses_task(guard))):
            return
        chosen = [guard.text for guard in (*beat.guards, *beat.around) if chooses_task(guard)]
        fix, rarely = self.rarer(statement, model)
        yield self.finding(
            model,
            call,
            (
                f"`{model.source.text(call.func)}` renders every training step, which takes longer than the "
                f"step itself"
            ),
            fix=fix,
            assumes=f"`{chosen[0]}` selects what is trained" if chosen else None,
            advice=f"Render {rarely}, if a flag is set, or in a separate evaluation",
        )

    def rarer(self, statement: ast.stmt, model: SemanticModel) -> tuple[Fix | None, str]:
        """Return the fix, and when it renders."""
        what, counter = "episode", episode_counter(statement, model)
        if counter is None:
            what, counter = "step", counter_at(statement, model, PERIOD)
        edit = (
            model.edit.wrap_in(f"if {counter} % {PERIOD} == 0:", [statement]) if counter is not None else None
        )
        if edit is None:
            return None, f"one episode of {PERIOD}"
        reason = f"only one of {PERIOD} {what}s is rendered; recorders get fewer frames, too"
        title = f"Render only every {PERIOD}th {what}"
        return Fix(title, Applicability.UNSAFE, (edit,), reason), f"`if {counter} % {PERIOD} == 0:`"

    def check_mode(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `env = gymnasium.make(..., render_mode="human")`, if training steps use it."""
        mode = next((keyword for keyword in call.keywords if keyword.arg == "render_mode"), None)
        match mode, model.names.targets(call):
            case ast.keyword(value=ast.Constant(value="human")), [ast.Name() | ast.Attribute() as name]:
                pass
            case _:
                return
        shown = model.source.text(name)
        if model.types.type_of(call).tag is not TypeTag.ENVIRONMENT or _TO_WATCH.search(shown.lower()):
            return
        if not is_free(model.frequency.conditions(call)):
            return
        step = trained_step(name, model)
        if step is None or mode is None:
            return
        if model.frequency.heat_of(step).level is not Heat.HOT:
            return
        edit = (
            None if model.names.attribute_uses("render") else model.edit.without_arguments(call, [mode.value])
        )
        yield self.finding(
            model,
            step,
            f"`{model.source.text(step.func)}` renders every training step, since `{shown}` was created "
            f"with "
            '`render_mode="human"`',
            fix=Fix("Create it without a window", Applicability.UNSAFE, (edit,), _NO_WINDOW)
            if edit
            else None,
            advice="Train without a window, and render a separate evaluation environment now and then",
        )

    def check_passed(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an environment with a window that is passed to code which likely trains."""
        if model.types.type_of(call).tag is not TypeTag.ENVIRONMENT or not shows_window(call):
            return
        if not is_free(model.frequency.conditions(call)) or not is_place_of_training(call, model):
            return
        receiver = receiver_of(call, model)
        if receiver is None:
            return
        arguments = [keyword.value for keyword in call.keywords if keyword.arg == "render_mode"]
        edit = None if model.names.attribute_uses("render") else model.edit.without_arguments(call, arguments)
        yield self.finding(
            model,
            call,
            f'`{model.source.text(call.func)}` with `render_mode="human"` creates an environment that draws '
            f"every step, and `{receiver}` receives it for training",
            fix=Fix("Create it without a window", Applicability.UNSAFE, (edit,), _NO_WINDOW)
            if edit
            else None,
            advice="Train without a window, and render a separate evaluation environment now and then",
            assumes=f"`{receiver}` trains in it",
            throughout=TrainingStep.ENVIRONMENT,
        )


def shows_window(call: ast.Call) -> bool:
    """Whether a call creates an environment with `render_mode="human"`."""
    return any(
        keyword.arg == "render_mode"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "human"
        for keyword in call.keywords
    )


def is_place_of_training(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the code that creates an environment also creates an optimizer, or starts a training later."""
    function = model.function(call)
    file = model.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    names = (file, *model.syntax.qualname(function).split(".")) if function is not None else (file,)
    if any(_TO_WATCH.search(name.lower()) or roles.looks_on(name) for name in names):
        return False
    return any(
        model.function(other) is function
        and (
            (other.lineno > call.lineno and is_called_training(last_name(other.func) or ""))
            or model.types.type_of(other).tag is TypeTag.OPTIMIZER
        )
        for other in model.syntax.of_type(ast.Call)
    )


def receiver_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the call that an environment is passed to, alone or in wrappers, by its source; None if it is
    not passed on, or its own steps are taken in the same code.
    """
    statement = model.syntax.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or _TO_WATCH.search(targets[0].id.lower()):
        return None
    scope = model.names.scope(targets[0]).lookup(targets[0].id)
    uses = model.names.reads(targets[0].id, scope) if scope is not None else []
    for use in uses:
        around = model.parent(use)
        if isinstance(around, ast.Attribute) and around.attr == "step":
            return None
    for use in uses:
        around = model.parent(use)
        around = model.parent(around) if isinstance(around, ast.keyword) else around
        if not isinstance(around, ast.Call) or around.func is use or use.lineno < call.lineno:
            continue
        name = last_name(around.func) or ""
        if model.names.qualified(around.func) not in _LOOKS and not _TO_WATCH.search(name.lower()):
            return model.source.text(around.func)
    return None


def is_environment(env: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an environment, judging by its type or its name."""
    kind = model.types.type_of(env)
    if kind.tag is TypeTag.ENVIRONMENT:
        return True
    name = (last_name(env) or "").lower()
    return kind.tag in (TypeTag.UNKNOWN, TypeTag.INSTANCE) and bool(_ENVIRONMENT.search(name))


def episode_counter(statement: ast.stmt, model: SemanticModel) -> str | None:
    """Return the variable of a loop over episodes around the one over steps."""
    inner = model.frequency.driving_loop(statement)
    if inner is None:
        return None
    for loop in model.frequency.loops(inner):
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            counter: str | None = counts_passes(loop, PERIOD, model)
            if counter is not None:
                return counter
    return None


def trained_step(name: ast.Name | ast.Attribute, model: SemanticModel) -> ast.Call | None:
    """Return the training step that uses the environment of this name, or that the same class keeps."""
    for attribute in model.names.attribute_uses("step"):
        call = model.parent(attribute)
        if not isinstance(call, ast.Call) or not _is_same(attribute.value, name, model):
            continue
        if unguarded_step(call, model) is Driver.ENVIRONMENT_STEP and stands_free(call, model):
            return call if not follows_training(call, model) else None
    return None


def follows_training(step: ast.Call, model: SemanticModel) -> bool:
    """Whether the loop around a step takes no gradient steps, and the same code trains before: it then shows
    the result.
    """
    beat = model.frequency.cadence(step)
    if beat is None or Driver.GRADIENT_STEP in beat.drivers | beat.nested:
        return False
    loops, function = model.frequency.loops(step), model.function(step)
    return bool(loops) and any(
        model.function(other) is function
        and other.lineno < loops[-1].lineno
        and is_called_training(last_name(other.func) or "")
        for other in model.syntax.of_type(ast.Call)
    )


def created_for(env: ast.expr, model: SemanticModel) -> list[ast.Attribute]:
    """Return where a class assigns the environment that it keeps, with a `render_mode`."""
    if not isinstance(env, ast.Attribute) or not model.names.is_self(env.value):
        return []
    uses = [use for use in model.names.attribute_uses(env.attr) if isinstance(use.ctx, ast.Store)]
    return [
        use
        for use in uses
        if isinstance(call := model.names.assigned(use), ast.Call)
        and any(keyword.arg == "render_mode" for keyword in call.keywords)
    ]


def _is_same(used: ast.expr, name: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    match used, name:
        case ast.Name(id=first), ast.Name(id=second):
            return first == second and model.names.scope(used) is model.names.scope(name)
        case ast.Attribute(value=owner, attr=first), ast.Attribute(value=holder, attr=second):
            own = model.names.is_self(owner) and model.names.is_self(holder)
            return own and first == second and model.class_of(used) is model.class_of(name)
    return False
