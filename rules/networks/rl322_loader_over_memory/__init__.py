"""A data loader, or a sampler of single indices, for mini-batches of tensors in memory.

## What it does
Flags loops over a `DataLoader(TensorDataset(...))` and over a `BatchSampler(SubsetRandomSampler(range(n)),
...)` that run repeatedly, for each update or each epoch.

The rule does not flag loaders with workers, pinned memory, a custom sampler or a custom collate function,
and datasets of any other class.

The rule is opt-in. The loader shuffles with its own random numbers, so the fixed program gets different
mini-batches. If the network is large, the saved time does not matter.

## Why is it slow
A loader is designed for data that has to be read and decoded item by item. From tensors, it takes one row
at a time, each by a call in Python, and stacks the rows to a batch. A sampler yields one index at a time as
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
All fixes are unsafe. If the fix replaces a `BatchSampler` over a `SubsetRandomSampler`, the indices and
their order are the same, but they are tensors, and zero rows give one empty batch instead of none. A
`RandomSampler` and a shuffling `DataLoader` seed their own generator, so the batches differ.

There is a fix where the loop uses its indices only to index, and where the tensors of a `TensorDataset` are
variables that the loop does not rebind. Otherwise there is advice.

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
