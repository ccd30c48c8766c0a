"""A line printed, a record logged or a point of a curve written in each step of a training.

## What it does
Flags `print`, log records (`logging`, loguru), points written by a summary writer, `wandb.log` and the like
where they run once per environment step or per gradient step of a training and nothing holds them back: no
interval, no switch, no end of an episode, in the function, in its callers or before an early `continue`.
Both branches of an `if` may write. Several in a row are one finding.

A logger of the project's own (`logger.log(key, value, step)`) counts if the class that its name stands for
hands what it is given to a writer in each call: an interval within it must be 1 by default. The finding
says that it rests on this, and so it does where a condition only asks whether there is a writer
(`if writer is not None`).

Not flagged is what is written once per episode, epoch or batch of rollouts, whatever any condition holds back
(but for the one that picks one process out of several), code that plays or evaluates, what is only collected
(`logger.record`, `list.append`), `debug` records, and the training of large models, of which a single step
takes far longer than a line.

## Why is it slow
The text is built (the values of a tensor are fetched for it, which on a GPU waits for all that was launched
before), formatted and written, to a terminal, a file or another thread, thousands of times a minute, and
nobody reads that many lines. For small networks and quick environments it takes a good part of the step. A
terminal is slower than a file, and a notebook slower than both.

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
Always unsafe: of a hundred lines or points, ninety-nine are gone. Where each value matters, collect them in a
list and write their mean. The interval is counted by the variable of the loop (`range`, `enumerate`) or by
what the same loop or function counts up by one, unless that begins again before it comes to a hundred, as in
`for _ in range(updates_per_step)`. There is advice alone where nothing of the kind is there,
where an argument of the call changes something, and where conditions in the loop put more into the dict
that is written (the return of an episode that is over).

## References
- https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
- https://docs.python.org/3/howto/logging.html#optimization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Rule, SemanticModel, last_name, trip_count
from rlint.rules.environments._shared.every_nth import counter_at, every_nth
from rlint.rules.environments._shared.steps import trains_large_models, unguarded_step
from rlint.rules.environments.rl604_log_every_step.step_logs import (
    log_write,
    whole_choice,
    writes_rare_values,
    writes_together,
)

PERIOD = 100


class LogEveryStep(Rule):
    """Writes to the log as often as it steps."""

    code = "RL604"
    name = "log-every-step"
    seeds = ("S1.IO1",)
    claims = ("time",)
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Find the first of the writes that follow one another."""
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
        place = whole_choice(statement, model)
        logger = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else None
        step = unguarded_step(place, model)
        assumes = f"`{model.source.text(call.func)}` writes at once" if written_by.own else None
        if step is None and logger is not None and assumes is None:
            step = unguarded_step(place, model, logger)
            assumes = f"`{logger}` is there"
        if step is None:
            model.silent("{} is not known to write in each step of a training", call)
            return
        if is_short(statement, model):
            model.silent("the loop around {} makes few passes", call)
            return
        written = f"`{model.source.text(call.func)}` writes in each {step.value}"
        others = len(run) - 1
        if others:
            written += f", and {others} more beside it" if others > 1 else ", and another beside it"
        yield self.finding(
            model,
            call,
            f"{written}: nobody reads that much, and each takes its part of the step",
            fix=build_fix(run, model),
            advice=advice(statement, step.value, model),
            related=[(other, "writes as often") for other in run[1:]],
            assumes=assumes,
        )


def is_short(statement: ast.stmt, model: SemanticModel) -> bool:
    """Does the loop make so few passes that all of what it writes may be read?"""
    loop = model.frequency.driving_loop(statement)
    count = trip_count.passes(loop, model) if loop is not None else None
    return count is not None and count < PERIOD


def build_fix(run: list[ast.stmt], model: SemanticModel) -> Fix | None:
    """Write every hundredth time."""
    edit = every_nth(run, PERIOD, model)
    if edit is None or writes_rare_values(run, model):
        return None
    reason = f"of {PERIOD} steps, only one is written"
    return Fix(f"Write in every {PERIOD}th step alone", Applicability.UNSAFE, (edit,), reason)


def advice(statement: ast.stmt, step: str, model: SemanticModel) -> str:
    """What to write instead."""
    counter = counter_at(statement, model, PERIOD)
    rarely = (
        f"`if {counter} % {PERIOD} == 0:`" if counter is not None else f"in every {PERIOD}th of them alone"
    )
    return f"Write {rarely}, or collect the values of each {step} and write their mean"
