"""A data loader, or a sampler of single indices, for mini-batches of tensors in memory.

## What it does
Flags loops over a `DataLoader(TensorDataset(...))` and over a `BatchSampler(SubsetRandomSampler(range(n)),
...)` that run repeatedly: for each update, each epoch. Loaders with workers, pinned memory, a sampler or a
collate function of their own are not flagged, nor are datasets of any other class.

The rule is opt-in. The loader shuffles by random numbers of its own, so a program that does without it sees
other mini-batches; and beside a large network the time is nothing.

## Why is it slow
A loader is made for data that have to be read and decoded one by one. Of tensors it takes one row after
another, each by a call in Python, and stacks them again to a batch; a sampler yields one index at a time as
a Python number. Indexing the tensors by a whole mini-batch of indices does the same in one call for each
tensor.

## Example
```python
import torch
from torch.utils.data import BatchSampler, SubsetRandomSampler


def update(model, optimizer, obs, returns, epochs):
    for epoch in range(epochs):
        for indices in BatchSampler(SubsetRandomSampler(range(len(obs))), 64, drop_last=False):
            loss = (model(obs[indices]) - returns[indices]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
```

Use instead:

```python
import torch
from torch.utils.data import BatchSampler, SubsetRandomSampler


def update(model, optimizer, obs, returns, epochs):
    for epoch in range(epochs):
        for indices in torch.randperm(len(obs)).split(64):
            loss = (model(obs[indices]) - returns[indices]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
```

## Fix safety
All fixes are unsafe. In the place of a `BatchSampler` over a `SubsetRandomSampler`, the indices are the
same, in the same order, but they are tensors, and no rows at all give one empty batch where there was none.
A `RandomSampler` and a shuffling `DataLoader` seed a generator of their own, so the batches are others.

There is a fix where the loop uses its indices only to index, and where the tensors of a `TensorDataset` are
variables that the loop does not rebind; otherwise there is advice.

## References
- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
- https://docs.pytorch.org/docs/stable/generated/torch.randperm.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
from rlint.rules.networks.rl322_loader_over_memory.in_memory import batches_of_indices, batches_of_rows

WRAPPERS = frozenset({"builtins.enumerate", "tqdm.tqdm", "tqdm.trange"})


class LoaderOverMemory(Rule):
    code = "RL322"
    name = "loader-over-memory"
    claims = ("time",)
    heat = Heat.WARM
    opt_in = True
    visits = (ast.For,)
    triggers = ("DataLoader", "BatchSampler")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.For)
        iterable, target = node.iter, node.target
        if (
            isinstance(iterable, ast.Call)
            and iterable.args
            and model.names.qualified(iterable.func) in WRAPPERS
        ):
            if model.names.qualified(iterable.func) == "builtins.enumerate":
                target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
            iterable = iterable.args[0]
        if not isinstance(iterable, (ast.Call, ast.Name)):
            return
        if (indices := batches_of_indices(iterable, target, node, model)) is not None:
            yield self.finding(
                model,
                iterable,
                f"`{indices.name}` yields the indices one by one as Python numbers for each batch",
                fix=indices.fix,
                advice="Draw all indices at once: `torch.randperm(n).split(batch_size)`",
            )
        elif (rows := batches_of_rows(iterable, target, node, model)) is not None:
            yield self.finding(
                model,
                iterable,
                "The loader indexes in-memory tensors row by row and stacks the rows to batches",
                fix=rows.fix,
                advice="Index the tensors themselves: `for indices in torch.randperm(n).split(batch_size)`",
            )
