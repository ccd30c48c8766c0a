"""A `DataLoader` whose batches are copied to a CUDA device from memory that is not pinned.

## What it does
Flags a `DataLoader(...)` without `pin_memory` whose batches are moved to a device in each step of a loop:
by `.cuda()`, `.to("cuda")`, or `.to(device)` where the device is chosen at run time, or by a function of the
project that the batches, or parts of them, are passed to. The loader and the loop may be in different
functions and methods, also of other files if a function returns the loader (`for batch in
data.train_loader()`).

The rule does not flag:

- programs that stay on the CPU;
- datasets that are already on the device;
- loaders that are passed to a library (`accelerator.prepare(loader)`);
- loaders with a `collate_fn` that is not known to return a tuple or dict of tensors in host memory, or what
  a tokenizer returns;
- batches that are moved with `non_blocking=False`.

## Why is it slow
A GPU can only read from pinned memory. The driver first copies a batch from other memory to its own pinned
memory, and the host waits for that. With `pin_memory=True`, a loader with workers pins its batches in a
separate thread while the model computes, and `.to(device, non_blocking=True)` then copies asynchronously.

Without workers, the loader pins in the main thread, and the gain is small. Workers are not always
worthwhile: for small data in memory they cost more than they save.

## Example
```python
import torch
from torch.utils.data import DataLoader


def train(model, optimizer, dataset):
    loader = DataLoader(dataset, batch_size=256, shuffle=True, num_workers=4)
    for states, actions in loader:
        states, actions = states.cuda(), actions.cuda()
        loss = torch.nn.functional.cross_entropy(model(states), actions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

Use instead:

```python
import torch
from torch.utils.data import DataLoader


def train(model, optimizer, dataset):
    loader = DataLoader(dataset, batch_size=256, shuffle=True, num_workers=4, pin_memory=True)
    for states, actions in loader:
        states, actions = states.cuda(), actions.cuda()
        loss = torch.nn.functional.cross_entropy(model(states), actions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Unsafe. Pinned memory cannot be swapped out, and there is less of it. If a dataset or a collate function
returns tensors on the device, the loader raises an error; rlint only notices that where the source code
shows it. The values of the batches do not change.

Where the device is chosen at run time, the fix pins only if there is a GPU:
`pin_memory=torch.cuda.is_available()`.

## References
- https://docs.pytorch.org/docs/stable/data.html#memory-pinning
- https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Device,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    last_names,
    torch_settings,
)
from rlint.rules.transfers.rl207_unpinned_loader.feeds import Feeds, gives_host_tensors, is_on_host
from rlint.rules.transfers.rl207_unpinned_loader.other_files import moved_in_other_file

LOADER = "torch.utils.data.DataLoader"
BEFORE_COLLATE_FN = 6
_WITHOUT_WORKERS = "without workers, the loader pins in the main thread, where it gains little"
DECIDES = frozenset({"pin_memory", "pin_memory_device", None})


class UnpinnedLoader(Rule):
    code = "RL207"
    name = "unpinned-loader"
    seeds = ("S2.2", "S3.1", "S4.mem")
    claims = ("time:cuda",)
    heat = Heat.COLD
    visits = (ast.Call,)
    callees = last_names(LOADER)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if model.names.qualified(node.func) != LOADER or len(node.args) > BEFORE_COLLATE_FN:
            return
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if DECIDES & set(given) or any(isinstance(argument, ast.Starred) for argument in node.args):
            return
        if "collate_fn" in given and not gives_host_tensors(given["collate_fn"], model):
            return  # batches may have any class and be on any device
        if not is_on_host(node, model) or model.program.sets(torch_settings.DEFAULT_DEVICE):
            return
        feeds = Feeds(node, model)
        if feeds.taken_over or any(map(waits_on_purpose, feeds.moved)):
            return
        moved = feeds.hot
        other_file = moved_in_other_file(node, model) if not moved and feeds.is_returned else None
        if not moved and other_file is None:
            return
        place = f"in line {model.span_of(moved[0])[0].line}" if moved else f"by the code around {other_file}"
        workers = node.args[5] if len(node.args) > 5 else given.get("num_workers")
        has_workers = workers is not None and not (isinstance(workers, ast.Constant) and not workers.value)
        yield self.finding(
            model,
            node,
            f"The batches are copied to the device {place} from memory that is not pinned",
            fix=build_fix(node, feeds, model),
            advice="Pass `pin_memory=True`, and move the batches with `non_blocking=True`",
            minor=None if has_workers else _WITHOUT_WORKERS,
        )


def waits_on_purpose(moved: ast.Call) -> bool:
    """Whether it is moved with an explicit `non_blocking=False`."""
    return any(
        word.arg == "non_blocking" and isinstance(word.value, ast.Constant) and not word.value.value
        for word in moved.keywords
    )


def build_fix(call: ast.Call, feeds: Feeds, model: SemanticModel) -> Fix | None:
    """Add the keyword."""
    value = "True"
    if not feeds.moved or any(feeds.target(moved) is not Device.CUDA for moved in feeds.moved):
        available = model.names.spelled("torch.cuda.is_available", call)
        if available is None:
            return None
        value = f"{available}()"
    edit = model.edit.with_keyword(call, "pin_memory", value)
    reason = "the dataset must return tensors in host memory, since others cannot be pinned"
    return (
        Fix("Let the loader pin its batches", Applicability.UNSAFE, (edit,), reason)
        if edit is not None
        else None
    )
