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
in programs that pin no memory have a low impact, as have those in programs of small networks that learn from
vectors. Pinning each tensor just before its copy does not help: it takes as long as the copy.

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
    FUNCTIONS,
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
    torch_settings,
    unpacked_options,
)
from rlint.rules.transfers._shared.creations import creation_of
from rlint.rules.transfers._shared.device_moves import move_of
from rlint.rules.transfers._shared.epoch_loops import ONCE, CopiedAgain, copied_again
from rlint.rules.transfers._shared.made_in_branches import made_in_branches
from rlint.rules.transfers._shared.there_and_back import left_device
from rlint.rules.transfers.rl201_blocking_transfer.batch_parts import (
    converted_value,
    is_from_loader,
    is_joined_from_transitions,
    is_part_of_batch,
)
from rlint.rules.transfers.rl201_blocking_transfer.converted_parts import converted_part
from rlint.rules.transfers.rl201_blocking_transfer.copied_in_epochs import copied_in_epochs, copied_next_to
from rlint.rules.transfers.rl201_blocking_transfer.joined_samples import is_joined_from_samples
from rlint.rules.transfers.rl201_blocking_transfer.moved_samples import moved_samples
from rlint.rules.transfers.rl201_blocking_transfer.transfer_sources import (
    array_of,
    given_type,
    has_unknown_source,
    is_converted_by_helper,
    is_made_here,
    is_never_written,
    is_used_as_mapping,
    is_used_as_network,
)

POSITIONAL_BEFORE_NON_BLOCKING = {"to": 2, "cuda": 1}
KEYWORDS = frozenset({"device", "dtype", "memory_format", "copy"})
LONGEST_SHOWN = 40
_FIELDS = ("obs", "observations", "states", "actions", "rewards", "masks", "dones")
"""Attributes of the buffers of a program."""
_STREAMS = ("Stream", "ExternalStream", "StreamContext", "set_stream", "stream")
"""Names of torch that create CUDA streams, or make them current."""
_OF_VECTORS = 2
"""The dimensions of a batch of vectors."""
_UNPINNED = "an asynchronous copy gains little while the source is not pinned"
_VECTORS = "small batches of vectors are copied in microseconds"
_NOTHING_PINNED = "the program pins no memory, and an asynchronous copy from other memory gains little"


class BlockingTransfer(Rule):
    code = "RL201"
    name = "blocking-transfer"
    seeds = ("S3.1", "S2.2")
    claims = ("sync:cuda", "time:cuda")
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
        match node:
            case ast.Call(func=ast.Attribute(value=source, attr="to" | "cuda" as method)):
                pass
            case ast.Call(func=ast.Attribute(value=source, attr="type"), args=[_], keywords=[]):
                yield from self._of_type(node, source, model)
                return
            case _:
                return
        assert isinstance(node, ast.Call)
        if len(node.args) > POSITIONAL_BEFORE_NON_BLOCKING[method]:
            return
        if not keywords_of(node, model) <= KEYWORDS:
            return
        target = target_of(node, method, model)
        if target is None or target in (Device.HOST, Device.OTHER):
            return
        samples = moved_samples(node, model)
        if node in samples:
            is_hot = model.frequency.heat_of(node).level >= self.heat
            if node is samples[0] and is_hot and not model.types.is_on_cpu(node):
                yield self._of_sample(node, source, samples[1:], model)
            return
        is_sure = is_on_host(source, model)
        if not is_sure and not is_likely_on_host(node, source, model):
            model.silent("{} is not known to be in host memory", source)
            return
        if model.frequency.heat_of(node).level < self.heat:
            return
        if is_made_here(source, model) or (target is not Device.CUDA and model.types.is_on_cpu(node)):
            return  # create-then-move; or no copy at all, unless it fails there: `if not x.is_cuda: x.cuda()`
        move = move_of(node, model)
        if move is not None and (creation_of(move, model) is not None or made_in_branches(move, model)):
            return
        if left_device(source, model) is not None:
            model.silent("{} has been on the device before: a round trip", source)
            return
        if not is_sure and not is_likely_part(source, model) and not has_unknown_source(source, model):
            model.silent("where {} comes from is not known", source)
            return
        kind = model.types.type_of(source)
        again = copied_again(source, model)
        yield self.finding(
            model,
            node,
            message(node, kind, model) + (again.says(model) if again is not None else ""),
            fix=build_fix(node, source, target, model),
            advice=ONCE if again is not None else advice(kind),
            assumes=assumption(node, source, model, is_sure=is_sure),
            minor=minor_gain(kind, model),
        )

    def _of_type(self, call: ast.Call, source: ast.expr, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `torch.from_numpy(states).type(dtype)`, where `dtype` may name a device."""
        move = move_of(call, model)
        if move is None or model.frequency.heat_of(call).level < self.heat or not is_on_host(source, model):
            return
        if is_made_here(source, model) or creation_of(move, model) is not None:
            return
        kind = model.types.type_of(source)
        yield self.finding(
            model,
            call,
            message(call, kind, model),
            advice=advice(kind),
            minor=minor_gain(kind, model),
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
            minor=None if model.program.scale() is ProgramScale.LARGE else _VECTORS,
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


def keywords_of(call: ast.Call, model: SemanticModel) -> set[str]:
    """Return the keywords of a call, with those that it unpacks from a dict; "**" for unknown ones."""
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    options = unpacked_options(call, model.types.type_of)
    return named | ({"**"} if options is None else options.keys())


def target_of(call: ast.Call, method: str, model: SemanticModel) -> Device | None:
    """Return the device that a tensor is moved to; None if the call may only change the dtype."""
    if method == "cuda":
        return Device.CUDA
    target = target_of_move(call)
    if target is not None:
        return model.types.device_of(target) if model.types.is_device(target) else None
    options = unpacked_options(call, model.types.type_of) or {}
    return model.types.device_of(options["device"]) if "device" in options else None


def is_on_host(source: ast.expr, model: SemanticModel) -> bool:
    """Whether the source certainly is a tensor in host memory."""
    array = array_of(source, model)
    if array is not None:
        return given_type(array, source, model).tag is TypeTag.NDARRAY
    kind = model.types.type_of(source)
    if kind.device is not Device.HOST or kind.tag not in (TypeTag.TENSOR, TypeTag.BATCH):
        return False
    # a batch of unknown type may be an object whose `to` has no `non_blocking`
    return batches.is_plain(kind) if kind.tag is TypeTag.BATCH else not is_used_as_mapping(source, model)


def is_likely_on_host(call: ast.Call, source: ast.expr, model: SemanticModel) -> bool:
    """Whether the program moves an unknown tensor in a way that makes no sense if it is on the device
    already: by `.cuda()`, under a condition that tests for a device, part by part of a batch, or after
    converting it if it is an array.
    """
    kind = model.types.type_of(source)
    if kind.device is not Device.UNKNOWN or kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return False
    if not kind and is_used_as_network(source, model):
        return False
    array = array_of(source, model)
    if array is not None:
        if has_data_on_device(model):
            return False
        given = given_type(array, source, model)
        return is_converted_by_helper(source, model) and not given and not may_be_tensor(given)
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "cuda" or is_guarded_by_device_test(call, model):
        return True
    is_part: bool = is_likely_part(source, model)
    return is_part


def has_data_on_device(model: SemanticModel) -> bool:
    """Whether the project has environments that run on the GPU, and no class that holds their data in
    arrays.
    """
    if not model.program.sets(torch_settings.DEVICE_ENVIRONMENTS, anywhere=True):
        return False
    return not any(TypeTag.NDARRAY in model.program.attribute_types(name) for name in _FIELDS)


def may_be_tensor(kind: Type) -> bool:
    """Whether one of the choices of an unknown type is a tensor, which may be on the device already."""
    choices = kind.caveat.choices if kind.caveat is not None else ()
    return any(choice.kind.tag is TypeTag.TENSOR for choice in choices)


def is_likely_part(source: ast.expr, model: SemanticModel) -> bool:
    """Whether an unknown tensor is, or comes from, a part of a batch that the program moves part by part."""
    found: bool = (
        is_part_of_batch(source, model)
        or is_joined_from_transitions(source, model)
        or (is_joined_from_samples(source, model) and not has_data_on_device(model))
        or is_from_loader(source, model)
    )
    return found


def is_guarded_by_device_test(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs only if the innermost condition around it finds a device."""
    child: ast.AST = call
    for around in model.ancestors(call):
        if isinstance(around, FUNCTIONS):
            return False
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            return model.types.tests_device(around.test)
        child = around
    return False


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


def minor_gain(kind: Type, model: SemanticModel) -> str | None:
    """Return why an asynchronous copy gains little here; None if the source is, or may be, pinned."""
    if is_unpinned(kind):
        return _UNPINNED
    if batches.is_pinned(kind):
        return None
    if not model.program.sets(torch_settings.PINS):
        return _NOTHING_PINNED
    return _VECTORS if is_of_vectors(kind, model) else None


def is_of_vectors(kind: Type, model: SemanticModel) -> bool:
    """Whether a tensor likely holds a few numbers per row, in a program of small networks."""
    return model.program.scale() is ProgramScale.SMALL and (kind.rank is None or kind.rank <= _OF_VECTORS)


def is_unpinned(kind: Type) -> bool:
    """Whether a tensor is known to be in memory that is not pinned."""
    return kind.of in (batches.COLLATED, batches.FROM_NUMPY)


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
