"""Weights that are compared in full on every update or weight sync, only to print a message.

## What it does
Flags comparisons of weights with weights in code that runs repeatedly (differences, `allclose`, `equal`,
sums of both sides, hashes of a `state_dict`), if the result is only printed, logged, used in a warning, or
unused. The weights may be those of networks, of single layers, or of two networks whose parameters a loop
iterates over. A function of the same file that does nothing else counts like the comparison
(`print(drift(net, target))`).

The rule does not flag comparisons that the program acts on: the result is returned, stored, added to a
loss, stops the training, or is an `assert`. Copies made for the comparison are reported by RL701.

## Why is it slow
A comparison reads every weight of both sides, allocates temporary tensors as large as the weights, and
reads one number at the end. Between processes the weights are in shared memory, which other processes may
wait for. On an accelerator, reading the number synchronises with the device.

## Example
```python
import torch
from torch import nn


class Actor:
    def __init__(self, shared: nn.Module) -> None:
        self.network = nn.Linear(4, 2)
        self.shared = shared

    def synchronise(self) -> None:
        difference = torch.abs(self.network.weight - self.shared.weight).mean().item()
        print(f"difference {difference:.6f}")
        self.network.load_state_dict(self.shared.state_dict())

    def act(self, observation: torch.Tensor) -> int:
        self.synchronise()
        with torch.no_grad():
            return int(self.network(observation).argmax())
```
Use instead:
```python
import torch
from torch import nn


class Actor:
    def __init__(self, shared: nn.Module) -> None:
        self.network = nn.Linear(4, 2)
        self.shared = shared

    def synchronise(self) -> None:
        self.network.load_state_dict(self.shared.state_dict())

    def act(self, observation: torch.Tensor) -> int:
        self.synchronise()
        with torch.no_grad():
            return int(self.network(observation).argmax())
```

## Fix safety
Always unsafe: the fix removes the message with the comparison. If a message also reports other values, the
fix only removes the part about the comparison. Where that part cannot be separated, and where the message
is a warning, there is only advice: compare in a test, or every N updates.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.allclose.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Fix, Heat, Rule, SemanticModel
from rlint.rules.debugging.rl702_weight_compare_on_sync import comparisons

_LONGEST = 50
_ADVICE = (
    "Compare in a test, or only every N updates when debugging; a version number detects a missed sync, too"
)


class WeightCompareOnSync(Rule):
    """See the page above."""

    code = "RL702"
    name = "weight-compare-on-sync"
    seeds = ("S2.1",)
    claims = ("time", "sync:cuda")
    heat = Heat.WARM
    visits = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If)
    triggers = ("weight", "bias", "parameters", "state_dict")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a statement that compares weights only for a message."""
        assert isinstance(node, ast.stmt)
        value, name = _parts(node)
        if value is None or model.frequency.heat_of(node).level < self.heat:
            return
        comparison = comparisons.comparison_in(value, model)
        if comparison is None:
            return
        if name:
            traced = comparisons.traced(node, name, model)
            if traced is not None:
                trace, fix = traced
                if comparisons.is_by_helper(comparison, model):
                    fix = None
                ends = "the result is only logged" if trace.logs else "the result is unused"
                yield self._found(node, comparison, ends, fix, model)
            return
        described, fix = comparisons.is_only_logged(node, comparison, model)
        if described:
            ends = "a warning" if isinstance(node, ast.If) else "a message"
            yield self._found(node, comparison, f"the result is only used in {ends}", fix, model)

    def _found(
        self, node: ast.stmt, comparison: ast.expr, ends: str, fix: Fix | None, model: SemanticModel
    ) -> Finding:
        text = " ".join(model.source.text(comparison).split())
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        message = f"`{shown}` reads all of these weights each time, and {ends}"
        return self.finding(model, node, message, fix=fix, advice=_ADVICE)


def _parts(statement: ast.stmt) -> tuple[ast.expr | None, str]:
    """Return the expression of a statement that may compare, and the variable that is assigned the result."""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0] if len(statement.targets) == 1 else None
    elif isinstance(statement, ast.Expr):
        return statement.value, ""
    elif isinstance(statement, ast.If):
        return statement.test, ""
    else:
        assert isinstance(statement, (ast.AnnAssign, ast.AugAssign))
        target = statement.target
    return (statement.value, target.id) if isinstance(target, ast.Name) else (None, "")
