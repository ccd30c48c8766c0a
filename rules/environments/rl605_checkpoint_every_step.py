"""A checkpoint written in every step of training.

## What it does
Flags `torch.save`, `save_pretrained`, `pickle.dump` of an agent or its memory, and methods that do this
(`agent.save()`), if they run once per environment step or gradient step without a condition: no interval,
best score or end of an episode limits them, in the function, in its callers or in the method that saves.

Also flags each update of a language model that generates its own samples, and settings of a framework that
save after each few steps (`CheckpointCallback(save_freq=1)`, `TrainingArguments(save_steps=1)`,
`ModelCheckpoint(every_n_train_steps=1)`).

A condition that only depends on the counter of an outer loop (`if episode % 10 == 0:` in the loop over the
steps) selects episodes, in each of whose steps the checkpoint is written.

The rule does not flag checkpoints once per episode or epoch, and data that is stored in parts (`torch.save`
of a tensor, `np.save`).

## Why is it slow
All weights are copied, serialised and written, although they are outdated one step later. That takes as
long as many steps, longer for larger networks, and training stalls when the disk cannot keep up.

## Example
```python
import torch
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loader) -> None:
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save(model.state_dict(), "latest.pt")
```
Use instead:
```python
import torch
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loader) -> None:
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 1000 == 0:
            torch.save(model.state_dict(), "latest.pt")
```

## Fix safety
Always unsafe: the file may hold weights that are up to a thousand steps old, also at the end of training.
Save once more after the loop.

The interval uses the loop variable (`range`, `enumerate`) or a counter that the same loop or function
increments by one. Without one, there is only advice.

## References
- https://pytorch.org/tutorials/beginner/saving_loading_models.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Driver,
    EffectKind,
    Finding,
    Fix,
    Guard,
    Heat,
    Rule,
    SemanticModel,
    TrainingStep,
    descendants,
    last_name,
    names_bound,
    output_words,
    regex,
    variable_names,
)
from rlint.rules.environments._shared.every_nth import counter_at, every_nth
from rlint.rules.environments._shared.steps import held_back, trains_large_models, unguarded_step
from rlint.rules.environments._shared.with_updates import takes_gradient_step

PERIOD = 1000
_MOST_STEPS = 10
"""The longest interval between two checkpoints of a framework that is certainly too short."""
_WRITES = regex(r"^(save|mk|make|print|log|info|join)")
_WITH_IT = EffectKind.READS_CLOCK | EffectKind.FILE_IO


class CheckpointEveryStep(Rule):
    """RL605."""

    code = "RL605"
    name = "checkpoint-every-step"
    seeds = ("S1.IO2",)
    claims = ("time",)
    heat = Heat.COLD
    visits = (ast.Call,)
    triggers = ("save", "dump", "every_n_train_steps", "write")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the call in the loop that leads to the file, or for the settings of a
        framework that make it save in each step.
        """
        statement = model.parent(node)
        if not isinstance(node, ast.Call):
            return
        interval = short_interval(node, model)
        if interval is not None:
            yield self.of_framework(interval, node, model)
        if not isinstance(statement, ast.Expr) or model.frequency.heat_of(node).level is Heat.COLD:
            return
        if not model.effects.writes_checkpoint(node) or takes_gradient_step(node):
            return  # the gradient step itself is the function with the call that saves
        beat = model.frequency.cadence(statement)
        if beat is None or beat.calls:
            return
        step = unguarded_step(statement, model) or update_of_large_model(statement, model)
        if step is None:
            yield from self.in_some_episodes(node, statement, model)
            return
        whole = with_its_file(statement, model)
        counter = counter_at(whole, model, PERIOD)
        rarely = f"`if {counter} % {PERIOD} == 0:`" if counter is not None else f"every {PERIOD} steps"
        yield self.finding(
            model,
            node,
            (
                f"`{model.source.text(node.func)}` writes a checkpoint in every {step.value}, which is "
                f"outdated one step later"
            ),
            fix=build_fix(whole, model),
            advice=f"Save {rarely}, when the score improves, and once after the loop",
        )

    def of_framework(self, interval: ast.keyword, call: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for settings with a short interval between two checkpoints."""
        assert isinstance(interval.value, ast.Constant)
        steps = str(interval.value.value)
        each = "every step" if steps == "1" else f"every {steps} steps"
        return self.finding(
            model,
            interval.value,
            f"`{model.source.text(call.func)}` with `{model.source.text(interval)}` writes a checkpoint in "
            f"{each}, which is outdated after as many steps",
            advice=f"Save every {PERIOD} steps, or when the score improves",
            throughout=TrainingStep.ENVIRONMENT if interval.arg == "save_freq" else TrainingStep.GRADIENT,
        )

    def in_some_episodes(
        self, call: ast.Call, statement: ast.stmt, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for a call in each step of the episodes that a condition selects."""
        beat = model.frequency.cadence(statement)
        chosen = [guard for guard in beat.guards if is_of_episode(guard, statement, model)] if beat else []
        step = unguarded_step(statement, model, apart_from=chosen.__contains__) if chosen else None
        if step is not None:
            yield self.finding(
                model,
                call,
                f"`{model.source.text(call.func)}` writes a checkpoint in every {step.value} of the episodes "
                f"for which `{chosen[0].text}` holds: the condition does not change from step to step",
                advice="Save once, after the loop over the steps",
            )


def short_interval(call: ast.Call, model: SemanticModel) -> ast.keyword | None:
    """Return the keyword by which a framework saves a checkpoint after each few steps."""
    for keyword in call.keywords:
        if keyword.arg not in output_words.SAVING_OPTIONS or not isinstance(keyword.value, ast.Constant):
            continue
        steps, path = keyword.value.value, model.names.qualified(call.func) or ""
        if type(steps) is int and 0 < steps <= _MOST_STEPS and not _saves_otherwise(call):
            return keyword if path.partition(".")[0] in output_words.SAVING_PACKAGES else None
    return None


def _saves_otherwise(call: ast.Call) -> bool:
    """Whether another keyword says that no number of steps decides when to save."""
    return any(
        keyword.arg == "save_strategy"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value == "steps")
        for keyword in call.keywords
    )


def update_of_large_model(statement: ast.stmt, model: SemanticModel) -> Driver | None:
    """Return the gradient step if a statement always runs with one of a language model, whose checkpoint
    takes long to write even beside the generation of the texts that it learns from.
    """
    beat = model.frequency.cadence(statement)
    if beat is None or held_back(beat.guards) or not trains_large_models(model):
        return None
    generates = Driver.GENERATION in beat.drivers | beat.nested
    if not generates or Driver.GRADIENT_STEP not in beat.drivers or is_read_back(statement, model):
        return None
    return Driver.GRADIENT_STEP


def is_read_back(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether another call of the same loop gets the path of the checkpoint, such as that of an engine that
    loads the new weights.
    """
    loop = model.frequency.driving_loop(statement)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if loop is None or not isinstance(call, ast.Call):
        return False
    paths = {model.source.text(argument) for argument in call.args}
    return any(
        isinstance(other, ast.Call)
        and not _WRITES.search(last_name(other.func) or "")
        and any(model.source.text(argument) in paths for argument in arguments(other))
        for other in descendants(loop)
    )


def arguments(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, with and without a keyword."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def is_of_episode(guard: Guard, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a condition in a loop over steps depends on the counter of an outer loop alone (`if episode %
    10 == 0:`).
    """
    loop = model.frequency.driving_loop(statement)
    if loop is None:
        return False
    test = next(
        (
            around.test
            for around in model.ancestors(statement)
            if isinstance(around, ast.If) and guard.text in model.source.text(around.test)
        ),
        None,
    )
    if test is None or any(
        isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)) for node in descendants(test)
    ):
        return False
    names = variable_names(test)
    counters = {
        name
        for outer in model.frequency.loops(loop)
        if isinstance(outer, (ast.For, ast.AsyncFor))
        for node in descendants(outer.target)
        for name in names_bound(node)
    }
    inside = {name for node in descendants(loop) for name in names_bound(node)}
    return bool(names & counters) and not names & inside


def with_its_file(statement: ast.stmt, model: SemanticModel) -> ast.stmt:
    """Return the statement together with a `with open(...)` that only serves it."""
    around = model.parent(statement)
    while isinstance(around, ast.With) and around.body == [statement]:
        statement, around = around, model.parent(around)
    return statement


def build_fix(statement: ast.stmt, model: SemanticModel) -> Fix | None:
    """Save only every thousandth time."""
    edit = every_nth([statement], PERIOD, model, _WITH_IT)
    if edit is None:
        return None
    reason = f"the file may hold weights that are {PERIOD} steps old, also at the end of training"
    return Fix(f"Save only in every {PERIOD}th step", Applicability.UNSAFE, (edit,), reason)
