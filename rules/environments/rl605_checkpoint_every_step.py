"""A checkpoint written in every step of training.

## What it does
Flags `torch.save`, `save_pretrained`, `pickle.dump` of an agent or its memory, and methods that do this
(`agent.save()`), if they run once per environment step or gradient step without a condition: no interval,
best score or end of an episode limits them, in the function, in its callers or in the method that saves.

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
    EffectKind,
    Finding,
    Fix,
    Guard,
    Heat,
    Rule,
    SemanticModel,
    descendants,
    names_bound,
    variable_names,
)
from rlint.rules.environments._shared.every_nth import counter_at, every_nth
from rlint.rules.environments._shared.steps import unguarded_step
from rlint.rules.environments._shared.with_updates import takes_gradient_step

PERIOD = 1000
_WITH_IT = EffectKind.READS_CLOCK | EffectKind.FILE_IO


class CheckpointEveryStep(Rule):
    """RL605."""

    code = "RL605"
    name = "checkpoint-every-step"
    seeds = ("S1.IO2",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = ("save", "dump")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the call in the loop that leads to the file."""
        statement = model.parent(node)
        if not isinstance(node, ast.Call) or not isinstance(statement, ast.Expr):
            return
        if not model.effects.writes_checkpoint(node) or takes_gradient_step(node):
            return  # the gradient step itself is the function with the call that saves
        beat = model.frequency.cadence(statement)
        if beat is None or beat.calls:
            return
        step = unguarded_step(statement, model)
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
