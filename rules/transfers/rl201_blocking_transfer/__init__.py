"""A blocking host-to-device copy in every step.

## What it does
Flags `.to(device)` and `.cuda()` without `non_blocking=True` in hot code, where the tensor is known to be in
host memory: the batches of a `DataLoader`, `torch.from_numpy(...)`, host tensors returned by a function or a
buffer of the project. The move may be guarded by a device test (`if args.cuda: x = x.cuda()`) or be in a
helper such as `Variable = lambda x: x.cuda()`. The source may be an array that is converted if it is not a
tensor (`torch.from_numpy(x) if isinstance(x, np.ndarray) else x`), and the device may be in a dict
(`.to(**options)`) or a legacy type (`.type(torch.cuda.FloatTensor)`). Where the origin of the tensor is not
known, the finding is `likely` and states the assumption, as it is for several parts of a batch that are moved
one by one (`batch.states.to(device)`, `{key: value.to(device) for key, value in batch.items()}`).

A dataset whose `__getitem__` moves each sample to the device is reported, too: one copy of a batch blocks
once. The parts of transitions that are concatenated and moved (`torch.cat(batch.state).to(device)`), samples
that are (`torch.stack([row.state for row in rows])`, `torch.stack(random.sample(rows, n))`), fields of a
batch that a loop collects (`fields.append([column[i] for i in indices])`), and the next batch of an unknown
loader, are `likely` in host memory. So are the parts of a batch that a function moves by a call of itself
for each part, or that `map(lambda part: part.to(device), batch)` moves, and two or more variables that are
unpacked from a value of unknown type and moved (`states, actions = batch`, `states.to(device)`), except for
results of an environment. `torch.as_tensor` may convert each part before.

`torch.as_tensor(part, device=device)` for each part of a parameter is reported in programs that pin memory
(likely), since it cannot copy asynchronously.

A tensor that each epoch of a loop moves again, though it does not change there, is reported with this fact.
So are parts of arrays which do not change (`torch.as_tensor(states[rows], device=device)`).

The rule does not flag:

- tensors that a constructor creates and that are moved immediately: `create-then-move` covers these;
- copies to the host (`.cpu()`, `.to("cpu")`), where `non_blocking=True` would let the program read before
  the data has arrived;
- modules, and conversions of the dtype;
- `non_blocking=False`, which shows intent;
- tensors that may already be on the device, as in programs with environments that run on the GPU (Isaac Gym)
  and no arrays;
- branches that run only without an accelerator (the `else` of `if device_type == "cuda":`).

## Why is it slow
`.to(device)` blocks until the device has finished all queued work, including the copy. Meanwhile the host
cannot launch the next kernels, and after the copy the device idles until they arrive. With
`non_blocking=True` the call returns immediately; kernels that use the tensor still run after the copy.

From pinned memory (`DataLoader(..., pin_memory=True)`) the copy also overlaps with work on the host.
Without pinning the gain is small, because the driver first copies the tensor to a staging buffer; findings
in programs that pin no memory have a low impact, as have copies of tensors that have just been computed, such
as rows that indices gather (`self.frames[rows].to(device)`), and those in programs of small networks that
learn from vectors. Pinning each tensor just before its copy does not help: it takes as long as the copy.

Copies of the parts of one batch that follow each other are one cost, which one change mends: the first, or
the one that likely holds the most data, keeps its impact, and the others have a low one.

## Example
```python
import torch
from torch.utils.data import DataLoader


def train(network, optimizer, dataset, device):
    loader = DataLoader(dataset, batch_size=256, shuffle=True, pin_memory=True)
    for states, actions in loader:
        states = states.to(device)
        actions = actions.to(device)
        loss = torch.nn.functional.cross_entropy(network(states), actions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

Use instead:

```python
import torch
from torch.utils.data import DataLoader


def train(network, optimizer, dataset, device):
    loader = DataLoader(dataset, batch_size=256, shuffle=True, pin_memory=True)
    for states, actions in loader:
        states = states.to(device, non_blocking=True)
        actions = actions.to(device, non_blocking=True)
        loss = torch.nn.functional.cross_entropy(network(states), actions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Safe where the target is certainly a CUDA device (`.cuda()`, `"cuda:0"`) and nothing can write to the source
before the copy is done. That is the case for an array that the same expression creates and `from_numpy`
wraps, and for a batch that a loader without pinning creates for this iteration and that is only moved in
it.

Unsafe otherwise: pinned memory is read asynchronously, so a later write to it may reach the device. On
devices other than CUDA the same holds for any memory. On the CPU the argument has no effect.

Also unsafe in programs that use CUDA streams: an asynchronous copy is ordered only on the stream that is
current at the copy, so that kernels on another stream may read the tensor too early.

## References
- https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
- https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
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
    ProgramScale,
    Rule,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    batches,
    models,
    target_of_move,
)
from rlint.rules.transfers._shared.epoch_loops import ONCE, CopiedAgain, copied_again
from rlint.rules.transfers.rl201_blocking_transfer.batch_parts import converted_value
from rlint.rules.transfers.rl201_blocking_transfer.blocking_copies import (
    VECTORS,
    BlockingCopy,
    blocking_copy,
    is_unpinned,
    minor_gain,
)
from rlint.rules.transfers.rl201_blocking_transfer.converted_parts import converted_part
from rlint.rules.transfers.rl201_blocking_transfer.copied_in_epochs import copied_in_epochs, copied_next_to
from rlint.rules.transfers.rl201_blocking_transfer.copied_together import copied_together, why_shared
from rlint.rules.transfers.rl201_blocking_transfer.moved_samples import moved_samples
from rlint.rules.transfers.rl201_blocking_transfer.transfer_sources import array_of, is_never_written

LONGEST_SHOWN = 40
_STREAMS = ("Stream", "ExternalStream", "StreamContext", "set_stream", "stream")
"""Names of torch that create CUDA streams, or make them current."""


class BlockingTransfer(Rule):
    code = "RL201"
    name = "blocking-transfer"
    seeds = ("S3.1", "S2.2")
    claims = ("sync:cuda", "time:cuda")
    transfers = 1
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = models.having(Trait.RELOCATES | Trait.CASTS_TO, TypeTag.TENSOR) | {"as_tensor", "tensor"}

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, ast.Call) and (part := converted_part(node, model)) is not None:
            if model.frequency.heat_of(node).level >= self.heat:
                yield self._of_part(node, part, model)
            return
        if isinstance(node, ast.Call) and (again := copied_in_epochs(node, model)) is not None:
            together = copied_next_to(node, model)
            if together[0] is node and model.frequency.heat_of(node).level >= self.heat:
                yield self._of_epochs(together, again, model)
            return
        if not isinstance(node, ast.Call):
            return
        samples = moved_samples(node, model)
        if node in samples:
            is_hot = model.frequency.heat_of(node).level >= self.heat
            if node is samples[0] and is_hot and not model.types.is_on_cpu(node):
                assert isinstance(node.func, ast.Attribute)
                yield self._of_sample(node, node.func.value, samples[1:], model)
            return
        copy = model.once(blocking_copy, node)
        if copy is not None and model.frequency.heat_of(node).level >= self.heat:
            yield self._of_copy(copy, model)

    def _of_copy(self, copy: BlockingCopy, model: SemanticModel) -> Finding:
        """Return a finding for a copy, which may be one of several parts of a batch."""
        call, source = copy.call, copy.source
        kind = model.types.type_of(source)
        again = copied_again(source, model) if copy.target is not None else None
        first, *others = copied_together(copy, model)
        return self.finding(
            model,
            call,
            message(call, kind, model) + (again.says(model) if again is not None else ""),
            fix=build_fix(call, source, copy.target, model) if copy.target is not None else None,
            advice=ONCE if again is not None else advice(kind),
            assumes=assumption(call, source, model, is_sure=copy.is_sure),
            related=[(each, "copied beside it, at less cost") for each in others] if call is first else (),
            minor=minor_gain(source, model) or (None if call is first else why_shared(first, model)),
        )

    def _of_part(self, call: ast.Call, part: ast.Name, model: SemanticModel) -> Finding:
        """Return a finding for a part of a pinned batch that `torch.as_tensor` copies."""
        return self.finding(
            model,
            call,
            f"`torch.as_tensor` blocks on the copy of `{part.id}` to the device, though the program pins "
            f"memory",
            advice=f"The parts of a loader's batch are tensors: `{part.id}.to(device, non_blocking=True)`",
            assumes=f"`{part.id}` is a tensor in host memory",
        )

    def _of_epochs(self, calls: list[ast.Call], again: CopiedAgain, model: SemanticModel) -> Finding:
        """Return a finding for data that `torch.as_tensor` copies to the device in each epoch."""
        call = calls[0]
        is_known = bool(model.types.type_of(again.data))
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` blocks on a host-to-device copy{again.says(model)}",
            advice=ONCE,
            related=[(other, "copied in each epoch, too") for other in calls[1:]],
            assumes=None if is_known else f"`{shortened(again.data, model)}` is in host memory",
            minor=None if model.program.scale() is ProgramScale.LARGE else VECTORS,
        )

    def _of_sample(
        self, call: ast.Call, source: ast.expr, others: list[ast.Call], model: SemanticModel
    ) -> Finding:
        """Return a finding for a dataset that moves each sample."""
        return self.finding(
            model,
            call,
            f"{shown_move(call, model)} copies each sample to the device on its own, which blocks",
            advice="Return the sample from host memory, and move whole batches in the training loop",
            related=[(other, "copied on its own, too") for other in others],
            assumes=None
            if model.types.type_of(source).device is Device.HOST
            else f"`{shortened(source, model)}` is a tensor in host memory",
        )


def assumption(call: ast.Call, source: ast.expr, model: SemanticModel, *, is_sure: bool) -> str | None:
    """Return the assumption under which the call copies from the host to a device."""
    if not is_sure:
        array = array_of(source, model)
        if array is not None:
            return f"`{shortened(array, model)}` is an array"
        converted = converted_value(source, model)
        if converted is not source:
            return f"`{shortened(converted, model)}` is in host memory"
        return f"`{shortened(source, model)}` is a tensor in host memory"
    match target_of_move(call):
        case ast.Attribute(value=ast.Name() as other, attr="device") if not model.names.is_self(other):
            if model.types.type_of(other).tag is TypeTag.TENSOR:
                return f"`{other.id}` is on an accelerator"
    return None


def shortened(source: ast.expr, model: SemanticModel) -> str:
    """Return an expression in one line, shortened if it is long."""
    text = " ".join(model.source.text(source).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def message(call: ast.Call, kind: Type, model: SemanticModel) -> str:
    """Return the message: the cost of the call, and whether the gain is large."""
    waits = f"{shown_move(call, model)} blocks on a host-to-device copy"
    if batches.is_pinned(kind):
        return f"{waits}, though the source is pinned and the copy could be asynchronous"
    if is_unpinned(kind):
        return f"{waits}; the source is not pinned, so an asynchronous copy gains little"
    return f"{waits}; an asynchronous copy gains little unless the source is pinned"


def shown_move(call: ast.Call, model: SemanticModel) -> str:
    """Return a move as it is shown in messages: without its source if that is long."""
    assert isinstance(call.func, ast.Attribute)
    shown = model.source.text(call)
    if len(shown) > LONGEST_SHOWN or "\n" in shown:
        arguments = ", ".join(
            " ".join(model.source.text(part).split()) for part in (*call.args, *call.keywords)
        )
        shown = f".{call.func.attr}({arguments})"
    return f"`{shown}`"


def advice(kind: Type) -> str:
    """Return what to write instead."""
    if batches.is_pinned(kind):
        return "Pass `non_blocking=True`, and do not modify the source until the copy is done"
    if kind.of == batches.COLLATED:
        return (
            "Pass `non_blocking=True`, and let the loader pin its batches: `DataLoader(..., pin_memory=True)`"
        )
    return "Pass `non_blocking=True`; to gain more, allocate a pinned buffer once and reuse it as the source"


def build_fix(call: ast.Call, source: ast.expr, target: Device, model: SemanticModel) -> Fix | None:
    """Add the keyword."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    edit = model.edit.with_keyword(call, "non_blocking", "True")
    in_text = any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call))
    if edit is None or (in_text and not model.edit.is_relocatable(call)):
        return None
    reason = doubt(call, source, target, model)
    return Fix(
        "Pass `non_blocking=True`", Applicability.UNSAFE if reason else Applicability.SAFE, (edit,), reason
    )


def _may_collate_otherwise(model: SemanticModel) -> bool:
    """Whether the program may set how loaders collate items after it has created them."""
    return model.program.may_replace("collate_fn") or model.program.mentions("default_collate_fn_map")


def doubt(call: ast.Call, source: ast.expr, target: Device, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if model.program.mentions(*_STREAMS):
        return "the tensor must be used on the stream that copies it: other streams do not wait for the copy"
    kind = model.types.type_of(source)
    if kind.of in batches.FROM_LOADER and _may_collate_otherwise(model):
        return "the loader must yield tensors: the program may set its `collate_fn` later"
    if batches.is_pinned(kind):
        condition = "the source is pinned and must not be written to before the copy is done"
    elif not is_never_written(source, model):
        condition = "if the source is pinned, it must not be written to before the copy is done"
    else:
        condition = ""
    if target is Device.CUDA:
        return condition.capitalize() or None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
    device = f"`{model.source.text(named or call.args[0])}` must be the CPU or a CUDA device"
    return f"{device}, and {condition}" if condition else f"{device}: other devices may read the source later"
