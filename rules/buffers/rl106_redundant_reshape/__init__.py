"""Changes of shape that a single call could do, or that have no effect.

## What it does
Flags redundant changes of shape in hot code:

- a change that the next one overrides, such as `flatten()` in `x.flatten().reshape(n, 4)`;
- a transposition before a `view` as a single row or column: `bias.t().view(1, -1)`;
- a new axis that `reshape` could have created: `x.view(-1).unsqueeze(1)` is `x.view(-1, 1)`;
- an axis that is removed again: `x.unsqueeze(0).squeeze(0)`, or `x.view(n, -1, 1).squeeze(-1)`, which is
  `x.view(n, -1)`;
- axes that are swapped twice: `x.t().t()`, or `permute` after `permute`;
- a change that depends on the number of dimensions, where that is known: `x.flatten() if x.ndim > 1 else
  x`;
- the same change of the same value, made twice in a function, or negated twice: `-torch.squeeze(x)`.

The changes must follow each other directly, without a computation in between. The rule does not flag
`squeeze(-1).unsqueeze(-1)`, which requires that the last axis has one item, or `view` with a dtype.

## Why is it slow
A change of shape moves no data. But each one is a call that creates a new tensor (and, with autograd on, a
node of the graph), which takes about as long as adding two small tensors. In code that handles one
observation at a time, such calls are a considerable part of the work.

## Example
```python
import torch


def advantage_loss(ratios: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    return -(ratios * advantages.flatten().unsqueeze(1)).mean()


def fit(net, optimizer, batches):
    for states, advantages in batches:
        loss = advantage_loss(net(states), advantages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead:
```python
import torch


def advantage_loss(ratios: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    return -(ratios * advantages.reshape(-1, 1)).mean()


def fit(net, optimizer, batches):
    for states, advantages in batches:
        loss = advantage_loss(net(states), advantages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Safe where the value was just created, so that it is contiguous, and where the removed call could not have
failed. Values, shape, strides and sharing of memory are then the same.

Unsafe elsewhere:

- `flatten` and `reshape` copy a tensor that is not contiguous; without the copy, code that writes to the
  result writes to the original;
- a size mismatch no longer raises an error, or one with another text, and some code of the program reads
  errors;
- the program prints the result, or reads its `grad_fn`, which names the operation that created it;
- a value that is returned unchanged is the same object instead of a view;
- if a view is created once instead of twice, its uses share it.

A condition on the number of dimensions costs next to nothing and gets only advice.

## References
- https://pytorch.org/docs/stable/tensor_view.html
- https://numpy.org/doc/stable/reference/generated/numpy.reshape.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
from rlint.rules.buffers.rl106_redundant_reshape.reshapes import CALLED, PROPERTIES, link_at
from rlint.rules.buffers.rl106_redundant_reshape.shaped_again import guarded, twice
from rlint.rules.buffers.rl106_redundant_reshape.shorter_chains import shorter


class RedundantReshape(Rule):
    """See the page above."""

    code = "RL106"
    name = "redundant-reshape"
    seeds = ("S0.5", "S2.1", "S3.1")
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call, ast.Attribute, ast.IfExp)
    callees = CALLED
    attributes = PROPERTIES
    triggers = (
        "reshape",
        "view",
        "flatten",
        "ravel",
        "squeeze",
        "transpose",
        "permute",
        ".t()",
        ".T",
        "swap",
    )

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a chain of shape changes that is longer than necessary."""
        if isinstance(node, ast.IfExp):
            yield from self._conditional(node, model)
            return
        last = link_at(node, model)
        if last is None:
            return
        found = shorter(last, model)
        if found is not None:
            yield self.finding(model, last.node, found.message, fix=found.fix, advice=found.advice)
        elif isinstance(node, ast.Call):
            again = twice(node, model)
            if again is not None:
                text = "-" * again.is_negated + " ".join(model.source.text(node).split())
                times = "twice" if again.times == 2 else f"{again.times} times"
                message = f"`{text}` is evaluated {times} here with the same result"
                advice = (
                    "Compute it once, and give the result a name"
                    if again.is_negated
                    else "Change the shape once, and give the result a name"
                )
                yield self.finding(model, node, message, fix=again.fix, advice=advice)

    def _conditional(self, node: ast.IfExp, model: SemanticModel) -> Iterator[Finding]:
        found = guarded(node, model)
        if found is None:
            return
        of = " ".join(model.source.text(found.link.of).split())
        dimensions = "1 dimension" if found.rank == 1 else f"{found.rank} dimensions"
        outcome = "always" if found.taken else "never"
        message = f"`{of}` has {dimensions}, so `{found.link.name}` {outcome} runs here"
        advice = (
            f"Write `{' '.join(model.source.text(found.link.node).split())}`"
            if found.taken
            else f"Write `{of}`"
        )
        yield self.finding(model, node, message, advice=advice)
