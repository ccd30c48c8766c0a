"""A line printed, a record logged or a metric written in every step of training.

## What it does
Flags output that is written once per environment step or gradient step of training: `print`, log records
(`logging`, loguru), points written by a summary writer, `wandb.log`, methods called `print` and similar
calls. The call must be unconditional: no interval, flag or end of an episode limits it, in the function,
in its callers or by an early `continue`. An `if` that writes in both branches counts as unconditional, and
so does one that decides whether a gradient step is taken: then each gradient step writes. Several calls in
a row are one finding. A loop that steps an environment and stores what it returns belongs to training, also
before the first gradient step.

A logger of the project (`logger.log(key, value, step)`) is flagged if its class passes the values to a
writer on every call, or writes a CSV row and flushes the file; an interval within the class must be 1 by
default. A method of a logger that an object keeps (`self.info = logger.info`) is flagged where it is called.
If all that a method does is to write the text that it is given, or if it writes a value under the name that
it is given, its calls are reported instead of its own line. The finding is then `likely` and states this
assumption. The same holds where a dict of metrics is passed to a logger of unknown class
(`self._logger.write(results)`), where a condition only checks that there is a writer or a list of callbacks
(`if writer is not None`, `if self.callbacks`), or that a callback is one that logs (`isinstance(callback,
WandbCallback)`), and where it is a switch that is on by default (`if verbose`, with `verbose=True` in the
signature).

The rule does not flag:

- calls once per episode, epoch or batch of rollouts, also for each of a few agents;
- calls under other conditions, except one that selects the main process;
- code that plays or evaluates, and loops in which a person chooses the actions;
- methods of the project that are named like those of a writer (`add_scalar`) and write at intervals or only
  values that changed;
- values that are only collected (`logger.record`, `list.append`), and `debug` records;
- progress bars that draw themselves at intervals (`bar.update()`, `bar.set_postfix(…, refresh=False)`), and
  text that waits in the buffer of the terminal (`print(".", end="")`, but not `print("\\rstep", end="")`);
- the training of large models, where a single step takes far longer than writing a line.

One line in each gradient step of a network for images or sequences has low impact.

## Why is it slow
The text is formatted and written to a terminal, a file or another thread, thousands of times a minute. If
the value is a CUDA tensor, reading it also synchronises with the device. For small networks and fast
environments this takes a considerable part of the step. A terminal is slower than a file, and a notebook
slower than both.

`bar.update()` of `tqdm` only counts between its draws. `bar.set_postfix(loss=loss)` formats and writes the
whole line in each call, which takes some hundred times as long (measured in one run each, to a file and to a
terminal). With `refresh=False`, it takes some ten times as long.

## Example
```python
import gymnasium


def train(agent, total_steps: int) -> None:
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset()
    for step in range(total_steps):
        state, reward, terminated, truncated, _ = env.step(agent.act(state))
        loss = agent.train_step(state, reward)
        print(f"step {step}: reward {reward}, loss {loss.item():.4f}")
        if terminated or truncated:
            state, _ = env.reset()
```
Use instead:
```python
import gymnasium


def train(agent, total_steps: int) -> None:
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset()
    for step in range(total_steps):
        state, reward, terminated, truncated, _ = env.step(agent.act(state))
        loss = agent.train_step(state, reward)
        if step % 100 == 0:
            print(f"step {step}: reward {reward}, loss {loss.item():.4f}")
        if terminated or truncated:
            state, _ = env.reset()
```

## Fix safety
Always unsafe: ninety-nine of a hundred lines or points are no longer written. If each value matters,
collect the values in a list and write their mean.

The interval uses the loop variable (`range`, `enumerate`) or a counter that the same loop or function
increments by one, unless the counter restarts before it reaches a hundred, as in `for _ in
range(updates_per_step)`.

There is only advice where there is no such counter, or none with a name (`for _ in range(steps)`), where an
argument of the call has side effects, and where conditions in the loop add entries to the dict that is
written (such as the return of a finished episode).

## References
- https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
- https://docs.python.org/3/howto/logging.html#optimization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Applicability,
    CodeExtent,
    Driver,
    Finding,
    Fix,
    Heat,
    ProgramScale,
    Rule,
    SemanticModel,
    last_name,
    regex,
    trip_count,
)
from rlint.rules.environments._shared.every_nth import counter_at, every_nth
from rlint.rules.environments._shared.steps import named_step, trains_large_models, unguarded_step
from rlint.rules.environments.rl604_log_every_step.default_switches import around_switches
from rlint.rules.environments.rl604_log_every_step.step_logs import (
    counts,
    is_switch,
    log_write,
    redraws_bars,
    whole_choice,
    writes_rare_values,
    writes_together,
)

PERIOD = 100
_PRINTED = "a printed line takes about a microsecond in a file, and some more in a terminal"
_LONG_STEP = "one line beside the gradient step of a large network, which takes far longer"
_WAIT = "Pass `refresh=False`: the bar shows the values when it next draws itself"
_WARNS = regex(r"^(warn(ing)?|error|critical|exception)$")


class LogEveryStep(Rule):
    """RL604."""

    code = "RL604"
    name = "log-every-step"
    seeds = ("S1.IO1",)
    claims = ("time",)
    heat = Heat.WARM
    one_change_mends = CodeExtent.FUNCTION
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first of several consecutive writes."""
        statement = model.parent(node)
        if not isinstance(statement, ast.Expr):
            return
        written_by = log_write(statement, model)
        if written_by is None:
            return
        call = written_by.call
        run = writes_together(statement, model)
        if not run or trains_large_models(model):
            return
        if model.effects.relays_log(call):
            model.silent("{} only writes the text of its callers, where it is reported", call)
            return
        if warns_of_exception(call, model):
            model.silent("{} warns of something that seldom happens", call)
            return
        place = whole_choice(statement, model)
        logger = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else None
        step = unguarded_step(place, model)
        assumes = f"`{model.source.text(call.func)}` writes immediately" if written_by.own else None
        if step is None and logger is not None and assumes is None:
            step = unguarded_step(place, model, logger)
            assumes = f"`{logger}` is not None"
        if step is None:
            step, assumes = step_if_switched_on(place, call, model)
        if step is None:
            around, switch = around_switches(place, model)
            step = unguarded_step(around, model) if switch is not None else None
            assumes = f"`{switch}` is on, as by default"
        if step is None:
            model.silent("{} is not known to write in every training step", call)
            return
        if is_short(statement, model):
            model.silent("the loop around {} has few iterations", call)
            return
        beat = model.frequency.cadence(statement)
        if beat is not None and beat.per_rollout:
            model.silent("{} writes a few lines after each rollout", call)
            return
        named = named_step(step, place, model)
        redrawn = redraws_bars(run, model)
        action = "redraws the progress bar" if redrawn else "writes"
        written = f"`{model.source.text(call.func)}` {action} in every {named}"
        others = len(run) - 1
        if others:
            line = model.span_of(run[1])[0].line
            written += f", and so do {others} more calls" if others > 1 else f", and so does line {line}"
        cost = "each call adds its cost to the step, and few of them are looked at"
        if redrawn:
            cost = "each call formats and writes the whole line"
        yield self.finding(
            model,
            call,
            f"{written}: {cost}",
            fix=wait_for_bar(redrawn, model) if redrawn else build_fix(run, model),
            advice=_WAIT if redrawn else advice(statement, named, model),
            related=[(other, "writes just as often") for other in run[1:]],
            assumes=assumes,
            minor=_LONG_STEP if is_far_shorter(run, step, model) else only_printed(run, model),
        )


def only_printed(run: list[ast.stmt], model: SemanticModel) -> str | None:
    """Return why lines that are only printed cost little: writers take a hundred times as long."""
    calls = [statement.value for statement in run if isinstance(statement, ast.Expr)]
    prints = [
        isinstance(call, ast.Call) and model.names.qualified(call.func) == "builtins.print" for call in calls
    ]
    return _PRINTED if len(prints) == len(run) and all(prints) else None


def warns_of_exception(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call warns under a condition, which then is the exception."""
    return bool(_WARNS.search(last_name(call.func) or "")) and bool(model.frequency.conditions(call))


def step_if_switched_on(
    place: ast.stmt, call: ast.Call, model: SemanticModel
) -> tuple[Driver | None, str | None]:
    """Return the step in which a call writes if the settings that turn on the log, and the parts of an agent
    that conditions ask for, are there; and this assumption.
    """
    if model.names.qualified(call.func) == "builtins.print":
        return None, None
    beat = model.frequency.cadence(place)
    switches = [guard for guard in (beat.guards if beat is not None else ()) if is_switch(guard)]
    step = unguarded_step(place, model, apart_from=switches.__contains__) if switches else None
    return step, f"`{switches[0].text}` holds" if switches else None


def is_far_shorter(run: list[ast.stmt], step: Driver, model: SemanticModel) -> bool:
    """Whether writing one line takes far less than the step: the gradient step of a large network."""
    is_large = model.program.scale() is ProgramScale.LARGE
    return len(run) == 1 and step is Driver.GRADIENT_STEP and is_large


def is_short(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether the loop has so few iterations that its output is readable, and no other loop repeats it."""
    loop = model.frequency.driving_loop(statement)
    count = trip_count.passes(loop, model) if loop is not None else None
    if loop is None or count is None or count >= PERIOD:
        return False
    around = [each for each in model.frequency.loops(loop) if each is not loop]
    for outer in around:
        passes = trip_count.passes(outer, model)
        count *= passes if passes is not None else PERIOD
    if around:
        return count < PERIOD
    called = model.frequency.heat_of(loop)
    return not (called.level > Heat.COLD and not called.assumption and len(called.chain) > 1)


def build_fix(run: list[ast.stmt], model: SemanticModel) -> Fix | None:
    """Write every hundredth time."""
    edit = None if any(map(counts, run)) else every_nth(run, PERIOD, model)
    if edit is None or writes_rare_values(run, model):
        return None
    reason = f"only one of {PERIOD} steps is written"
    return Fix(f"Write only in every {PERIOD}th step", Applicability.UNSAFE, (edit,), reason)


def wait_for_bar(calls: Sequence[ast.Call], model: SemanticModel) -> Fix | None:
    """Leave it to the progress bar when it draws itself."""
    edits = []
    for call in calls:
        if last_name(call.func) == "refresh" or len(call.args) > 1:
            return None
        edit = model.edit.with_keyword(call, "refresh", "False")
        if edit is None or any(keyword.arg == "refresh" for keyword in call.keywords):
            return None
        edits.append(edit)
    reason = "the bar shows the values when it next draws itself, at most ten times a second"
    return Fix("Pass `refresh=False`", Applicability.UNSAFE, tuple(edits), reason)


def advice(statement: ast.stmt, step: str, model: SemanticModel) -> str:
    """Return the code to write instead."""
    counter = counter_at(statement, model, PERIOD)
    rarely = f"`if {counter} % {PERIOD} == 0:`" if counter is not None else f"only in every {PERIOD}th {step}"
    return f"Write {rarely}, or collect the values and write their mean"
