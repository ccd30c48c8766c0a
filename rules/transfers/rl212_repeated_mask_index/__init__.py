"""A boolean mask that indexes several tensors, and is converted to indices each time.

## What it does
Flags a boolean mask that indexes several tensors on the same path of hot code: `values[mask]`,
`advantages[mask]`, `log_probs[mask]`. With two tensors, the impact is low. Elements that are overwritten
from a tensor count as well (`reward[mask] += bonus`). The mask may be a variable, or the same expression each
time (`values[~done]`, `returns[~done]`), and `torch.masked_select` counts like an index. An item, attribute
or parameter that is named like a mask (`batch["done"]`) likely is one. What a loop stores under each name in
turn (`state[name][done] = fresh[name]`) likely is a tensor.

The rule does not flag:

- masks that index one tensor, and uses in different branches;
- assignments of a number (`x[mask] = 0.0`), which torch runs as `masked_fill_` without computing indices;
- NumPy masks, masks of functions that test whether a parameter is a tensor, and masks and tensors in host
  memory;
- indices that are already integers.

## Why is it slow
To index by a mask, torch first computes its indices, as `mask.nonzero()` does, and then gathers the
elements. On an accelerator, the host has to read the number of elements, so each use of the mask
synchronises with the device. The indices are the same for all tensors: if they are computed once, one
synchronisation is enough.

On the CPU there is no synchronisation, and only masks of many thousand elements gain.

## Example
```python
import torch
from torch import nn


def learn(net: nn.Module, optimizer, states: torch.Tensor, returns: torch.Tensor) -> None:
    mask = returns > 0
    values = net(states).squeeze(1)
    errors = returns - values
    loss = errors[mask].pow(2).mean() + values[mask].abs().mean() - states[mask].std()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


def learn(net: nn.Module, optimizer, states: torch.Tensor, returns: torch.Tensor) -> None:
    mask = returns > 0
    values = net(states).squeeze(1)
    errors = returns - values
    kept = mask.nonzero(as_tuple=True)
    loss = errors[kept].pow(2).mean() + values[kept].abs().mean() - states[kept].std()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

## Fix safety
Always unsafe. The elements, their order and the gradients are the same. But a mask without dimensions
indexes differently from its indices, and the variable must hold a tensor.

There is only advice where the variable is not known to hold a tensor, where the mask is used beside other
indices (`x[:, mask]`), and where it is written to in between.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.nonzero.html
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    BindingKind,
    CodeExtent,
    Device,
    EscapeLevel,
    Finding,
    Fix,
    Function,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
)
from rlint.rules.transfers._shared.in_steps import is_in_long_step
from rlint.rules.transfers.rl212_repeated_mask_index.exceptional_masks import is_under_exception
from rlint.rules.transfers.rl212_repeated_mask_index.mask_groups import uses_of_equal_masks, uses_of_variable
from rlint.rules.transfers.rl212_repeated_mask_index.mask_uses import (
    SELECTS,
    MaskUse,
    is_item_for_each,
    is_mask,
    is_named_mask,
    uses_of_mask,
)
from rlint.rules.transfers.rl212_repeated_mask_index.paths_of_uses import on_one_path, statement_before

_FEWEST = 2
_TWO = "with two uses, only one synchronisation is saved"
_LONG_STEP = (
    "two synchronisations are saved beside the gradient step of a large network, which takes far longer"
)
_SELDOM = "a condition skips these lines unless the mask has elements, which is an exception"

_LONG = 40
"""Length from which code is not quoted in a message."""


class RepeatedMaskIndex(Rule):
    """RL212."""

    code = "RL212"
    name = "repeated-mask-index"
    claims = ("time:cuda", "sync:cuda")
    transfers = 1
    one_change_mends = CodeExtent.FUNCTION
    visits = (ast.Assign, ast.Subscript, ast.Call)
    callees = SELECTS
    triggers = ("torch",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the uses of a mask that is assigned to a variable, or computed each time."""
        if isinstance(node, (ast.Subscript, ast.Call)):
            yield from self._by_expression(uses_of_equal_masks(node, model), model)
            if not isinstance(node, ast.Subscript) or isinstance(node.slice, (ast.Name, ast.Tuple)):
                yield from self._by_expression(uses_of_variable(node, model), model)
            return
        match node:
            case ast.Assign(targets=[ast.Name() as mask], value=value):
                uses = uses_of_mask(mask, value, model)
            case _:
                return
        if sum(use.times for use in uses) < _FEWEST:
            return
        selects = any(isinstance(use.place, ast.Call) for use in uses)
        if not selects and not is_mask(value, model) and not is_named_mask(value, model, uses[0].index):
            return
        uses = on_one_path(uses, node, model)
        count = sum(use.times for use in uses)
        if count < _FEWEST:
            return
        if not is_of_tensors(value, uses, model):
            model.silent("it is not known whether {} is a tensor", mask)
            return
        times = "in every iteration" if any(use.is_in_loop for use in uses) else f"{count} times"
        yield self.finding(
            model,
            uses[0].place,
            f"The boolean mask `{mask.id}` is converted to indices {times}, once for each tensor that it "
            f"indexes; each time synchronises with an accelerator",
            fix=build_fix(mask, value, uses, model),
            advice=advice(mask.id, uses),
            related=[(use.place, "also indexed by the mask") for use in uses[1:]],
            assumes=assumption(mask, value, uses, model) or unknown_mask(uses[0].index, model),
            minor=why_cheap(count, uses, model),
        )

    def _by_expression(self, uses: list[MaskUse], model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first of several places that the same mask expression indexes."""
        count = sum(use.times for use in uses)
        if count < _FEWEST or not is_of_tensors(uses[0].index, uses, model):
            return
        selects = any(isinstance(use.place, ast.Call) for use in uses)
        if not selects and isinstance(uses[0].index, ast.Name) and not is_mask(uses[0].index, model):
            return
        text = " ".join(model.source.text(uses[0].index).split())
        is_read = not selects and is_named_mask(uses[0].index, model)
        computed = "" if is_read or isinstance(uses[0].index, ast.Name) else "computed and "
        times = "in every iteration" if any(use.is_in_loop for use in uses) else f"{count} times"
        mask = f"The boolean mask `{text}`" if len(text) < _LONG else "The same boolean mask"
        is_simple = isinstance(uses[0].index, (ast.Attribute, ast.Call, ast.Name, ast.Subscript))
        whole = (text if is_simple else f"({text})") if len(text) < _LONG else "mask"
        yield self.finding(
            model,
            uses[0].place,
            f"{mask} is {computed}converted to indices {times}, once for each tensor that it indexes; "
            f"each time synchronises with an accelerator",
            advice=advice(whole, uses),
            related=[(use.place, "also indexed by the mask") for use in uses[1:]],
            assumes=f"`{text}` holds booleans" if is_read else unknown_mask(uses[0].index, model),
            minor=why_cheap(count, uses, model),
        )


def advice(mask: str, uses: list[MaskUse]) -> str:
    """Return what to write instead. A tuple of indices is no index beside others: `x[:, kept]`."""
    if all(use.is_alone or isinstance(use.place, ast.Call) for use in uses):
        once = f"Compute the indices once, and use them in its place: `kept = {mask}.nonzero(as_tuple=True)`"
    else:
        once = (
            f"Compute the indices once, for a mask with one dimension: `kept = {mask}.nonzero().squeeze(1)`, "
            "then `x[kept]` and `x[kept, 0]`"
        )
    if any(isinstance(use.place.ctx, ast.Store) for use in uses if isinstance(use.place, ast.Subscript)):
        once += ". Where all values are cheap to compute, `torch.where` synchronises not even once"
    return once


def unknown_mask(mask: ast.expr, model: SemanticModel) -> str | None:
    """Return the assumption that a mask is a tensor, if it is computed from parameters of unknown type only:
    an array of NumPy is converted on the host, and has no such method.
    """
    names = [part for part in descendants(mask) if isinstance(part, ast.Name)]
    if model.types.type_of(mask).tag is not TypeTag.UNKNOWN or any(
        model.types.type_of(name).tag is not TypeTag.UNKNOWN or model.names.is_self(name) for name in names
    ):
        return None
    bound = [binding for name in names for binding in model.dataflow.definitions(name)]
    if not bound or any(binding.kind is not BindingKind.PARAMETER for binding in bound):
        return None
    return f"`{' '.join(model.source.text(mask).split())}` is a tensor"


def why_cheap(count: int, uses: list[MaskUse], model: SemanticModel) -> str | None:
    """Return why the conversions cost little together."""
    if count == _FEWEST:
        return _TWO
    if count == _FEWEST + 1 and is_in_long_step(uses[0].place, model):
        return _LONG_STEP
    return _SELDOM if all(is_under_exception(use.place, uses[0].index, model) for use in uses) else None


def assumption(mask: ast.Name, value: ast.expr, uses: list[MaskUse], model: SemanticModel) -> str | None:
    """Return what a finding about a mask in a variable depends on, if that is not known."""
    selects = any(isinstance(use.place, ast.Call) for use in uses)
    if not selects and is_named_mask(value, model, uses[0].index):
        return f"`{mask.id}` holds booleans"
    for use in uses:
        store = model.parent(use.place)
        if isinstance(store, ast.Assign) and is_item_for_each(store.value, model):
            return f"`{model.source.text(store.value)}` is a tensor"
    return None


def is_of_tensors(value: ast.expr, uses: list[MaskUse], model: SemanticModel) -> bool:
    """Whether the mask, or something that it indexes, is a tensor, and nothing is an array or in host
    memory.
    """
    parts = [value, *(use.index for use in uses), *(use.indexed for use in uses)]
    kinds = [model.types.type_of(part) for part in parts]
    tags = [kind.tag for kind in kinds]
    tags += [TypeTag.TENSOR for use in uses if isinstance(use.place, ast.Call)]
    if any(kind.tag is TypeTag.TENSOR and kind.device is Device.HOST for kind in kinds):
        return False
    function = model.function(uses[0].index) if unknown_mask(uses[0].index, model) is not None else None
    if function is not None and model.once(takes_arrays, function):
        return False
    return TypeTag.TENSOR in tags and TypeTag.NDARRAY not in tags


def takes_arrays(function: Function, _: SemanticModel) -> bool:
    """Whether a function tests whether a parameter is a tensor: callers then pass arrays of NumPy, too."""
    names = {
        given.arg for given in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    for part in descendants(function):
        match part:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _]) if name in names:
                return True
            case ast.Call(func=ast.Attribute(attr="is_tensor"), args=[ast.Name(id=name)]) if name in names:
                return True
    return False


def build_fix(mask: ast.Name, value: ast.expr, uses: list[MaskUse], model: SemanticModel) -> Fix | None:
    """Compute the indices once, before the first use."""
    known = model.types.type_of(value)
    if known.tag is not TypeTag.TENSOR or known.optional or known.rank == 0:
        return None
    first = statement_before([use.place for use in uses], mask, model)
    if first is None or not all(use.is_alone for use in uses):
        return None
    if model.dataflow.use_of(value).escape_level is EscapeLevel.CHANGED:
        return None
    kept = model.importer.fresh_local(("kept", "chosen"), mask, f"RL212 {mask.lineno}")
    inserted = model.edit.insert_before(first, f"{kept} = {mask.id}.nonzero(as_tuple=True)")
    if inserted is None:
        return None
    edits = (inserted, *(model.edit.replace(use.index, kept) for use in uses))
    reason = f"`{mask.id}` must be a tensor of at least one dimension"
    return Fix("Compute the indices of the mask once", Applicability.UNSAFE, edits, reason)
