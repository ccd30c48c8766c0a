"""An array copied into a tensor that could share its memory, or passed to a legacy constructor.

## What it does
Flags these ways to create a tensor from a NumPy array, or a tensor, in hot code:

- `torch.tensor(array)` with a temporary array (`np.stack(frames)`, `rows[indices]`, `x * scale`), with an
  array that the function, or a script at module level, only creates and fills, or neither writes to nor
  stores, or in a statement that only copies the tensor (`target.copy_(torch.tensor(rows[:n]))`);
- `torch.tensor(state)` with an observation that the function does not write to, if the tensor is not stored,
  also of a view or copy of it (`state[None]`, `np.asarray(state)`);
- `torch.tensor(self.frames[index])` in the `__getitem__` of a data set that never writes to the array;
- `torch.tensor(x)` of a tensor, which copies it and warns;
- `torch.FloatTensor(array)`, `torch.Tensor(array)` and similar constructors, with an array or an
  observation: a result of `env.step()` or `env.reset()`, a variable with such a name, or what a method that
  selects actions takes first.

A `device=` that may be the CPU counts in gradient steps, with a low impact: on an accelerator, nothing is
gained.

The rule does not flag:

- lists and numbers;
- tensors that need a gradient;
- conversions to another dtype, which copy anyway;
- arrays that are written to or stored, and arrays in attributes;
- tensors that are immediately moved to a device, for which RL205 reports both copies, unless the array is new
  and the move does not wait (`non_blocking=True`).

## Why is it slow
`torch.tensor` always copies. `torch.as_tensor` shares the array's memory if the dtype stays the same, so
its cost does not grow with the batch. `torch.FloatTensor` and similar constructors copy only if the dtype
changes, but each call takes longer than `torch.as_tensor`.

## Example
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int) -> None:
        self.states = np.zeros((capacity, 17), dtype=np.float32)

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.tensor(self.states[indices])


def act(policy: torch.nn.Module, state: np.ndarray) -> int:
    return int(policy(torch.FloatTensor(state)).argmax())
```
Use instead:
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int) -> None:
        self.states = np.zeros((capacity, 17), dtype=np.float32)

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(self.states[indices])


def act(policy: torch.nn.Module, state: np.ndarray) -> int:
    return int(policy(torch.as_tensor(state, dtype=torch.float32)).argmax())
```

## Fix safety
Replacing `torch.tensor` is safe if nothing else refers to the array. It is unsafe if a variable does,
because a write to the array would change the tensor. It is also unsafe in a program that enlarges tensors
in place (`resize_`, `resize_as_`) or passes them as `out=`: both fail for a tensor that shares an array's
memory. Nor is it safe if the array may not be contiguous, as a copy always is: it was computed from a
transposed array, selects columns (`rows[:, chosen]`), or is a column of `np.nonzero`.

Replacing a legacy constructor keeps the values and the sharing of memory. It is safe if the argument is
known to be an array with at least one dimension; an integer would be a size, and a tensor is handled
differently. It is unsafe in a program that sets a default device or, for `torch.Tensor`, a default dtype.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html
- https://docs.pytorch.org/docs/stable/tensors.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Device,
    EscapeLevel,
    Finding,
    Fix,
    Heat,
    ProgramScale,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    UseKind,
    last_names,
    legacy_tensors,
    observations,
)
from rlint.rules.transfers._shared.in_steps import is_in_gradient_steps, is_only_in_environment_steps
from rlint.rules.transfers.rl208_copy_into_tensor.borrowed_memory import (
    is_filled,
    is_left_alone,
    is_new,
    is_written_to,
)
from rlint.rules.transfers.rl208_copy_into_tensor.likely_arrays import is_likely_array, is_used_up
from rlint.rules.transfers.rl208_copy_into_tensor.memory_order import may_be_in_other_order
from rlint.rules.transfers.rl208_copy_into_tensor.views import holder, is_loaded_sample

KEYWORDS = frozenset({"dtype", "device"})
LONGEST_SHOWN = 40
_DEFAULT_DTYPE = "float64"
"""The dtype of arrays of numbers that numpy creates without a `dtype`."""
_SMALL = "an observation has few numbers, unless it is an image"
_ON_CPU = "an accelerator gets a copy in any case"
_OF_TENSOR = "one copy of a tensor, and a warning that is shown once"
_SAME_DATA = frozenset({UseKind.ATTRIBUTE, UseKind.ITEM, UseKind.METHOD})


class CopyIntoTensor(Rule):
    code = "RL208"
    name = "copy-into-tensor"
    claims = ("time", "alloc")
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = last_names("tensor", *legacy_tensors.CLASSES)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if len(node.args) != 1 or isinstance(node.args[0], (ast.Starred, ast.Constant, ast.List)):
            return
        maker = model.names.qualified(node.func) or ""
        if maker != "torch.tensor" and maker not in legacy_tensors.CLASSES:
            return
        array = node.args[0]
        is_assumed = maker == "torch.tensor" and not model.types.type_of(array)
        if maker in legacy_tensors.CLASSES:
            found = of_class(node, array, maker, model)
        elif is_assumed:
            found = of_observation(node, array, model)
        elif model.types.type_of(array).tag is TypeTag.TENSOR:
            found = of_tensor(node, array, model)
        else:
            found = of_copy(node, array, model)
        if found is None or is_moved(node, model) or model.frequency.heat_of(node).level < self.heat:
            return
        message, advice, fix = found
        device = None if is_tensor(array, model) else open_device(node, model)
        assumed = f"{shown(array, model)} is an array" if is_assumed else None
        yield self.finding(
            model,
            node,
            message,
            fix=fix,
            advice=advice,
            assumes=f"`{model.source.text(device)}` is the CPU" if device is not None else assumed,
            minor=why_small(node, model, is_assumed=is_assumed),
            workload="single-observations" if is_of_one_step(node, model) else None,
        )


def open_device(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the device that a call names, if it may be the CPU or not."""
    for keyword in call.keywords:
        if keyword.arg == "device" and model.types.device_of(keyword.value) is Device.UNKNOWN:
            is_none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            return None if is_none else keyword.value
    return None


def is_of_one_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs in environment steps without gradient steps, in a program that does not use images
    or sequences throughout: what is copied there is mostly one observation.
    """
    return is_only_in_environment_steps(node, model) and model.program.scale() is not ProgramScale.LARGE


def of_class(
    call: ast.Call, array: ast.expr, maker: str, model: SemanticModel
) -> tuple[str, str, Fix | None] | None:
    """Return the finding for a legacy constructor, if its argument is an array."""
    kind = model.types.type_of(array)
    if call.keywords or not (
        (kind.tag is TypeTag.NDARRAY and not kind.optional and kind.rank != 0)
        or is_likely_array(array, model)
    ):
        return None
    dtype = legacy_tensors.class_dtype(maker)
    function = model.source.text(call.func)
    return (
        f"`{function}` takes longer than `torch.as_tensor` to create a tensor from {shown(array, model)}",
        f"Write `torch.as_tensor(..., dtype=torch.{dtype})`",
        fix_of_class(call, array, kind, maker, dtype, model),
    )


def fix_of_class(
    call: ast.Call, array: ast.expr, kind: Type, maker: str, dtype: str, model: SemanticModel
) -> Fix | None:
    """Call `torch.as_tensor` with the dtype of the class."""
    function, wanted = (
        legacy_tensors.torch_name(call, "as_tensor", model),
        legacy_tensors.torch_name(call, dtype, model),
    )
    head = model.source.text(call.func)
    if function is None or wanted is None or not model.edit.is_relocatable(call.func):
        return None
    edit = model.edit.rewrite_call(call, function=function, keywords={"dtype": wanted})
    if edit is None or any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call)):
        return None
    reason = legacy_tensors.class_doubt(call, maker, model)
    if kind.tag is not TypeTag.NDARRAY:
        reason = f"{shown(array, model)} must be an array: `{head}` interprets an integer as a size"
    elif not kind.rank:
        reason = f"{shown(array, model)} must have a dimension: otherwise `{head}` interprets it as a size"
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Call `torch.as_tensor`", safety, (edit,), reason)


def of_observation(
    call: ast.Call, array: ast.expr, model: SemanticModel
) -> tuple[str, str, Fix | None] | None:
    """Return the finding for `torch.tensor(state)` of an observation of unknown type, without a fix: if it is
    no array, nothing is gained.
    """
    held = holder(array, model)
    if call.keywords or not isinstance(held, ast.Name) or not observations.is_from_environment(held, model):
        return None
    if is_written_to(held, model) or is_kept(call, model):
        return None
    message = f"`{model.source.text(call.func)}` copies {shown(array, model)} in each step"
    return message, "Write `torch.as_tensor(...)`, which shares the memory of an array", None


def is_kept(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the tensor, or a view of it, is stored or returned."""
    views = [use.at for use in model.dataflow.uses(call, _SAME_DATA) if use.kind is UseKind.METHOD]
    values = (call, *(view for view in views if isinstance(view, ast.Call)))
    return any(model.dataflow.use_of(value).escape_level > EscapeLevel.HANDED for value in values)


def is_tensor(array: ast.expr, model: SemanticModel) -> bool:
    """Whether the argument is known to be a tensor already."""
    kind = model.types.type_of(array)
    return kind.tag is TypeTag.TENSOR and not kind.optional


def why_small(call: ast.Call, model: SemanticModel, *, is_assumed: bool) -> str | None:
    """Return why the copy costs little."""
    if is_tensor(call.args[0], model):
        return _OF_TENSOR
    if open_device(call, model) is not None:
        return _ON_CPU
    return _SMALL if is_assumed else None


def of_tensor(call: ast.Call, array: ast.expr, model: SemanticModel) -> tuple[str, str, Fix | None] | None:
    """Return the finding for `torch.tensor` of a tensor, without a fix: a copy may be meant."""
    if not is_tensor(array, model) or any(word.arg == "requires_grad" for word in call.keywords):
        return None
    message = f"`{model.source.text(call.func)}` copies {shown(array, model)}, which is a tensor, and warns"
    return message, "Use the tensor itself, `.to(...)` for another dtype, or `.clone()` for a copy", None


def of_copy(call: ast.Call, array: ast.expr, model: SemanticModel) -> tuple[str, str, Fix | None] | None:
    """Return the finding for `torch.tensor`, if the memory of the array could be shared."""
    kind = model.types.type_of(array)
    if kind.tag is not TypeTag.NDARRAY or kind.optional or not keeps_type(call, kind, model):
        return None
    new = is_new(array, call, model)
    held = holder(array, model)
    is_shared = isinstance(held, ast.Name) and is_left_alone(held, model)
    is_shared = is_shared or is_loaded_sample(call, array, model)
    filled = not new and is_filled(array, call, model)
    if not new and not filled and not is_shared and not is_used_up(call, model):
        return None
    device = open_device(call, model)
    if device is not None and not is_in_gradient_steps(call, model):
        return None  # perhaps one observation
    why = ", which was created only for this call" if new or filled else ""
    edit = None
    function = legacy_tensors.torch_name(call, "as_tensor", model)
    if function is not None and model.edit.is_relocatable(call.func):
        edit = model.edit.replace(call.func, function)
    is_view = not new and not filled and held is not array and not is_used_up(call, model)
    if edit is None or is_view or any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call)):
        fix = None
    else:
        reason = legacy_tensors.sharing_doubt(model)
        if device is not None:
            reason = f"{shown(array, model)} must not be written to while the tensor is in use, on the CPU"
        elif not new:
            reason = f"{shown(array, model)} must not be written to while the tensor is in use"
        elif reason is None and may_be_in_other_order(array, model):
            reason = f"{shown(array, model)} must be contiguous in memory, as its copy is"
        safety = Applicability.UNSAFE if reason else Applicability.SAFE
        fix = Fix("Let the tensor share the array's memory", safety, (edit,), reason)
    message = f"`{model.source.text(call.func)}` copies {shown(array, model)}{why}"
    return message, "Write `torch.as_tensor(...)`, which shares the memory", fix


def keeps_type(call: ast.Call, kind: Type, model: SemanticModel) -> bool:
    """Whether the tensor may be on the host, with the array's own dtype."""
    for keyword in call.keywords:
        if keyword.arg not in KEYWORDS:
            return False
        if isinstance(keyword.value, ast.Constant) and keyword.value.value is None:
            continue
        if keyword.arg == "device":
            if model.types.device_of(keyword.value) not in (Device.HOST, Device.UNKNOWN):
                return False
        elif model.analysis.types.dtype_of(keyword.value) != (kind.dtype or _DEFAULT_DTYPE):
            return False
    return True


def is_moved(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the tensor is moved to a device, at once or later: RL205 reports both copies, except for moves
    that do not wait, which still copy a new array twice.
    """
    is_copied_twice = model.types.type_of(call.args[0]).tag is TypeTag.NDARRAY and is_new(
        call.args[0], call, model
    )
    return any(
        isinstance(use.at, ast.Call)
        and not (is_copied_twice and continues(use.at))
        and isinstance(use.at.func, ast.Attribute)
        and (use.at.func.attr == "cuda" or (use.at.func.attr == "to" and not only_casts(use.at, model)))
        for use in model.dataflow.uses(call, _SAME_DATA)
        if use.kind is UseKind.METHOD
    )


def continues(move: ast.Call) -> bool:
    """Whether the host does not wait for a move: `.to(device, non_blocking=True)`."""
    given = (word.value for word in move.keywords if word.arg == "non_blocking")
    return any(isinstance(value, ast.Constant) and value.value is True for value in given)


def only_casts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether `.to(...)` only changes the dtype."""
    return (
        len(call.args) == 1 and not call.keywords and model.types.type_of(call.args[0]).tag is TypeTag.DTYPE
    )


def shown(array: ast.expr, model: SemanticModel) -> str:
    """Return the array's source for a message."""
    text = model.source.text(array)
    return "the array" if "\n" in text or len(text) > LONGEST_SHOWN else f"`{text}`"
