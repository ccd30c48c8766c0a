"""An environment rendered in every step of training.

## What it does
Flags `env.render()` that runs once per environment step of training without a condition: no flag and no
interval over steps or episodes, in the function or in its callers, or in the `step` of an environment or
wrapper. The frame may be kept, if nothing but a video needs it: it is not used, or appended to a list that
only a video is made of (likely, if the function returns the list). Drawing in a window counts as well:
`cv2.imshow`, `pygame.display.flip`, `viewer.sync`.

Also flags environments that draw every step by themselves (`render_mode="human"`, `has_renderer=True`,
`headless=False`), if a training loop steps them, or if they are passed on by code which creates an optimizer
or calls `train`, `learn` or similar later (likely); the window of a simulator that the constructor of an
environment always opens (`p.connect(p.GUI)`, likely); and wrappers that record every episode
(`RecordVideo(env, folder, episode_trigger=lambda episode: True)`), in a file that trains. Conditions that
select what is trained (`if ENV == "Pendulum":`) hold in all steps or in none: the finding is then likely.

`env.render()` of an environment that `gymnasium.make` created without a `render_mode` has a low impact: most
environments then draw nothing, and warn.

The rule does not flag rendering in code that plays, tests, records or evaluates, or that shows the result of
a training that it called before, in methods that only such code calls, in other methods of environments and
their wrappers, and where the returned frame is used.

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
    FUNCTIONS,
    Applicability,
    Driver,
    Edit,
    Finding,
    Fix,
    FunctionSummary,
    GuardKind,
    Heat,
    Rule,
    SemanticModel,
    TrainingStep,
    roles,
)
from rlint.rules.environments._shared.every_nth import counter_at
from rlint.rules.environments._shared.steps import (
    chooses_task,
    is_free,
    step_of_own_environment,
    unguarded_step,
)
from rlint.rules.environments.rl601_render_in_training import drawn_windows, frames

PERIOD = 100
_NO_WINDOW = "no window is shown any more"
_METHODS = frozenset("render step reset observation reward close _render_frame render_frame".split())
_SELDOM = frozenset({GuardKind.INTERVAL, GuardKind.CLOCK, GuardKind.BEST})
_MOST_CALLS = 3
"""Maximum number of calls that are followed from a method to conditions that hold seldom."""
_ONLY_WARNS = "most environments draw nothing without a `render_mode`"
_SEPARATELY = "Train without a window, and render a separate evaluation environment now and then"


class RenderInTraining(Rule):
    """RL601."""

    code = "RL601"
    name = "render-in-training"
    seeds = ("S1.E2",)
    claims = ("time",)
    concerns_waiting = True
    heat = Heat.COLD
    visits = (ast.Call,)
    triggers = (
        "render",
        "imshow",
        "display",
        "viewer",
        "swap_buffers",
        "GUI",
        "gui",
        "headless",
        "_trigger",
        "no_graphics",
        "video_callable",
    )

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that renders, or for an environment created with rendering."""
        assert isinstance(node, ast.Call)
        if frames.draws_in_window(node, model):
            yield from self.check_window(node, model)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "render":
            yield from self.check_render(node, node.func.value, model)
        elif node.keywords and drawn_windows.window_option(node) is not None:
            if not isinstance(next(iter(model.names.targets(node)), None), ast.Attribute):
                found = list(self.check_mode(node, model))
                yield from found or self.check_passed(node, model)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            for made in drawn_windows.created_for(node.func.value, model):
                if drawn_windows.trained_step(made, model) is node and isinstance(
                    call := model.names.assigned(made), ast.Call
                ):
                    yield from self.check_mode(call, model)
        elif drawn_windows.connects_to_window(node, model):
            yield from self.check_simulator(node, model)
        elif drawn_windows.records_everything(node):
            yield from self.check_recorder(node, model)

    def check_render(self, call: ast.Call, env: ast.expr, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `env.render()`, if no code needs the frame except for a video."""
        draws = draws_always(call, model) if model.names.is_self(env) else frames.is_environment(env, model)
        if not draws:
            return
        kept, is_statement = frames.kept_for_video(call, model), isinstance(model.parent(call), ast.Expr)
        function, statement = model.function(call), model.syntax.statement(call)
        if not is_statement and function is not None and roles.looks_on(function.name):
            return  # the frames are what it is for
        if kept is False or drawn_step(statement, model) is None:
            return
        if model.frequency.heat_of(call).level is not Heat.HOT:
            return
        beat = model.frequency.cadence(statement)
        guards = (*beat.guards, *beat.around) if beat is not None else ()
        chosen = [guard.text for guard in guards if chooses_task(guard)]
        assumes = f"`{chosen[0]}` selects what is trained" if chosen else None
        if kept is None:
            assumes = "the frames are only for a video"
        if is_statement and drawn_windows.is_without_mode(env, model):
            text = model.source.text(call.func)
            yield self.finding(
                model,
                call,
                f"`{text}` runs in every environment step, but the environment was created without "
                "`render_mode`: most environments then draw nothing, and warn",
                advice=f"Remove the call, or pass `render_mode` and render one episode of {PERIOD}",
                minor=_ONLY_WARNS,
            )
            return
        fix, rarely = self.rarer(statement, model)
        yield self.finding(
            model,
            call,
            (
                f"`{model.source.text(call.func)}` renders every training step, which takes longer than the "
                f"step itself"
            ),
            fix=fix if is_statement else None,
            assumes=assumes,
            advice=f"Render {rarely}, if a flag is set, or in a separate evaluation"
            if is_statement
            else "Render only the episodes of which a video is made, or record a separate evaluation",
        )

    def check_window(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that draws a frame in a window in each step."""
        statement = model.syntax.statement(call)
        if drawn_step(statement, model) is None or model.frequency.heat_of(call).level is not Heat.HOT:
            return
        yield self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` draws in a window in every training step, which takes longer "
            "than the step itself",
            advice=f"Draw one episode of {PERIOD}, if a flag is set, or in a separate evaluation",
        )

    def check_simulator(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an environment that always opens the window of its simulator."""
        cls = model.class_of(call)
        assert cls is not None
        yield self.finding(
            model,
            call,
            f"`{model.source.text(call)}` opens a window, in which the simulator draws every step of "
            f"`{cls.name}`",
            advice="Connect with `pybullet.DIRECT` unless a flag asks for the window",
            assumes=f"`{cls.name}` is trained in",
            throughout=TrainingStep.ENVIRONMENT,
        )

    def check_recorder(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a wrapper that records every episode of a training."""
        guards = model.frequency.conditions(call)
        first = tuple(
            guard for guard in guards if guard.kind is not GuardKind.ONCE
        )  # of several environments
        if not is_free(first) or not drawn_windows.trains_here(call, model):
            return
        yield self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` records every episode: each step is rendered, and each "
            "episode encoded as a video",
            advice=f"Record one episode of {PERIOD}: `lambda episode: episode % {PERIOD} == 0`",
            throughout=TrainingStep.ENVIRONMENT,
        )

    def rarer(self, statement: ast.stmt, model: SemanticModel) -> tuple[Fix | None, str]:
        """Return the fix, and when it renders."""
        what, counter = "episode", frames.episode_counter(statement, model, PERIOD)
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
        mode = drawn_windows.window_option(call)
        match mode, model.names.targets(call):
            case ast.keyword(), [ast.Name() | ast.Attribute() as name]:
                pass
            case _:
                return
        shown = model.source.text(name)
        if not drawn_windows.creates_environment(call, model) or drawn_windows.TO_WATCH.search(shown.lower()):
            return
        if not is_free(model.frequency.conditions(call)):
            return
        step = drawn_windows.trained_step(name, model)
        if step is None or mode is None:
            return
        if model.frequency.heat_of(step).level is not Heat.HOT:
            return
        edit = without_window(call, mode, model)
        yield self.finding(
            model,
            step,
            f"`{model.source.text(step.func)}` renders every training step, since `{shown}` was created "
            f"with `{model.source.text(mode)}`",
            fix=Fix("Create it without a window", Applicability.UNSAFE, (edit,), _NO_WINDOW)
            if edit
            else None,
            related=[(call, "creates it")],
            advice=_SEPARATELY,
        )

    def check_passed(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an environment with a window that is passed to code which likely trains."""
        mode = drawn_windows.window_option(call)
        if mode is None or not drawn_windows.creates_environment(call, model):
            return
        if not is_free(model.frequency.conditions(call)) or not drawn_windows.is_place_of_training(
            call, model
        ):
            return
        receiver = drawn_windows.receiver_of(call, model)
        if receiver is None:
            return
        edit = without_window(call, mode, model)
        yield self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` with `{model.source.text(mode)}` creates an environment that "
            f"draws every step, and `{receiver}` receives it for training",
            fix=Fix("Create it without a window", Applicability.UNSAFE, (edit,), _NO_WINDOW)
            if edit
            else None,
            advice=_SEPARATELY,
            assumes=f"`{receiver}` trains in it",
            throughout=TrainingStep.ENVIRONMENT,
        )


def without_window(call: ast.Call, mode: ast.keyword, model: SemanticModel) -> Edit | None:
    """Remove the argument that asks for a window, if no code of the file renders by itself. Options other
    than `render_mode` may be on by default.
    """
    if mode.arg != "render_mode" or model.names.attribute_uses("render"):
        return None
    return model.edit.without_arguments(call, [mode.value])


def drawn_step(statement: ast.stmt, model: SemanticModel) -> Driver | None:
    """Return the environment step if a statement runs in each one of a training, or in each step of an
    environment of the project; None for other statements.
    """
    function, cls = model.function(statement), model.class_of(statement)
    own: Driver | None = step_of_own_environment(statement, model)
    if own is not None and is_shown_by_callers(statement, model):
        own = None
    if cls is not None and drawn_windows.TO_WATCH.search(cls.name.lower()):
        return None  # what is wrapped in it is to be watched
    if function is not None and function.name in _METHODS:
        return own
    beat = model.frequency.cadence(statement)
    if beat is None or unguarded_step(statement, model, apart_from=chooses_task) is not (
        Driver.ENVIRONMENT_STEP
    ):
        return own
    around = tuple(guard for guard in beat.around if not chooses_task(guard))
    return Driver.ENVIRONMENT_STEP if is_free(around) else None


def is_shown_by_callers(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether only functions that show a policy (`play`, `demo`) call the method around a statement, or its
    callers are called only in every Nth iteration of a training.
    """
    function = model.symbols.function_at(statement)
    return function is not None and _is_seldom_called(function, model, _MOST_CALLS)


def _is_seldom_called(function: FunctionSummary, model: SemanticModel, depth: int) -> bool:
    edges = model.dataflow.calls_of(function) if depth else []
    return bool(edges) and all(
        any(map(roles.looks_on, edge.caller.qualname.split(".")))
        or any(guard.kind in _SELDOM for guard in edge.site.guards)
        or _is_seldom_called(edge.caller, model, depth - 1)
        for edge in edges
    )


def draws_always(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call of a method of the same class draws unconditionally: its body does not begin with a
    condition (`if self.render_mode is None: return`).
    """
    found = [model.types.definition(target) for target in model.types.call_targets(call)]
    return bool(found) and all(
        isinstance(function, FUNCTIONS) and not any(isinstance(part, ast.If) for part in function.body)
        for function in found
    )
