"""Numbers read from a tensor one by one in a loop.

## What it does
Flags `.item()`, `float()`, `int()` and `bool()` of each element of a tensor, in comprehensions and in
loops: `[x.item() for x in tensor]`, `[tensor[i].item() for i in range(n)]`, `list(map(float, tensor))`,
`for reward, done in zip(rewards, dones): total += reward.item()`. The tensor may be indexed by several
numbers (`scores[row, column].item()`), by a counter that goes backwards or that a `while` loop increases, or
read by a function passed to `map`. Conditions and indices read their numbers, too: `if done[i]:`,
`sum(int(x > 0) for x in errors)`, `[names[i] for i in order]`. An index counts whatever it indexes if it is
an item of a tensor with one dimension, such as `scores.argmax(1)`.

The rule does not flag arrays and lists, single reads, rows of several numbers, and a loop with a small
literal count. What only the constructor of a class runs has a low impact.

## Why is it slow
Indexing creates a tensor for each element before its number is read. On an accelerator each read also
synchronises with the device, to copy a few bytes. `tolist()` reads all numbers in one call and one copy,
and Python numbers are faster to compute with.

## Example
```python
import torch


def rollout(envs, policy, steps: int):
    states = envs.reset()
    for _ in range(steps):
        actions = torch.argmax(policy(states), dim=1)
        states = envs.step([action.item() for action in actions])
    return states
```

Use instead:

```python
import torch


def rollout(envs, policy, steps: int):
    states = envs.reset()
    for _ in range(steps):
        actions = torch.argmax(policy(states), dim=1)
        states = envs.step(actions.flatten().tolist())
    return states
```

## Fix safety
`tolist()` gives exactly the same numbers as `.item()`.

Safe where the tensor certainly has one dimension, all of it is read, and nothing can write to it while the
loop runs.

Unsafe in these cases:

- The number of dimensions is not known, or the program changes shapes in place (`unsqueeze_`). The fix then
  flattens the tensor. If its rows hold several numbers, the original code raises an error and the fixed code
  returns all of them.
- A function that the loop calls could write to the tensor under another name. If an optimizer does, because a
  parameter shares the memory of the tensor (`nn.Parameter(rows)`), there is only advice.
- `float` or `int` is called in a program that uses complex numbers.
- `float`, `int` or `bool` is called on a tensor that may require a gradient, which gives a warning from
  torch.

There is only advice where the loop does more with an element than read it, or where the index may not cover
the whole tensor.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
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
    TypeTag,
    last_name,
    last_names,
    why_once_per_object,
)
from rlint.rules.transfers._shared.element_reads import is_first, mapped_read, parts_read, read_in
from rlint.rules.transfers._shared.reads import CONVERSIONS, TensorRead, operand_of
from rlint.rules.transfers.rl210_item_per_element.read_at_once import (
    TITLE,
    WARNS,
    build_fix,
    has_one_dimension,
    may_be_complex,
    may_warn,
)
from rlint.rules.transfers.rl210_item_per_element.wide_rows import has_wide_rows

LONGEST_SHOWN = 40


class ItemPerElement(Rule):
    code = "RL210"
    name = "item-per-element"
    claims = ("time", "sync:cuda")
    heat = Heat.WARM
    visits = (
        ast.Call,
        ast.If,
        ast.While,
        ast.IfExp,
        ast.Assert,
        ast.comprehension,
        ast.Subscript,
    )
    callees = last_names("item", "map", *CONVERSIONS)

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of iterations of the loops that read element by element."""
        return model.sizes.passes_in_step(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        match node:
            case ast.Call(func=ast.Name(id="map"), args=[_, _], keywords=[]):
                yield from self.mapped(node, model)
                return
        for part in parts_read(node, model):
            read = model.once(read_in, part)
            if read is None or not is_first(read, model):
                continue
            if holds_rows(part, read, model):
                model.silent("{} reads rows of several numbers, which have no single value", part)
                continue
            yield self.finding(
                model,
                part,
                message(part, read.tensor, model),
                fix=build_fix(read, model) if read.is_plain else None,
                advice=advice(part, read, model),
                minor=why_once_per_object(part, model),
            )

    def mapped(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `map(float, tensor)`."""
        function, tensor = node.args
        is_plain = model.names.qualified(function) in CONVERSIONS
        if not is_plain and not mapped_read(function, model):
            return
        kind = model.types.type_of(tensor)
        if kind.tag is not TypeTag.TENSOR or model.names.qualified(node.func) != "builtins.map":
            return
        whole = has_one_dimension(kind, model)
        listed = f"{model.edit.parenthesized(tensor)}{'' if whole else '.flatten()'}.tolist()"
        reason = None if whole else f"`{model.source.text(tensor)}` must hold one number in each row"
        if reason is None and may_be_complex(function, kind, model):
            reason = f"`{model.source.text(tensor)}` must not hold complex numbers"
        if reason is None and may_warn(function, tensor, kind, model):
            reason = WARNS.format(model.source.text(tensor))
        fix = None
        if (
            is_plain and is_listed(node, model) and model.edit.is_relocatable(tensor)
        ):  # else it may be modified before it is read
            safety = Applicability.UNSAFE if reason else Applicability.SAFE
            fix = Fix(TITLE, safety, (model.edit.replace(tensor, listed),), reason)
        yield self.finding(
            model,
            node,
            message(node, tensor, model),
            fix=fix,
            advice=f"Map over `{model.edit.parenthesized(tensor)}.tolist()`"
            if is_plain
            else "Read all numbers at once with `tolist()`",
        )


def is_listed(node: ast.Call, model: SemanticModel) -> bool:
    """Whether the results of a `map` are collected at once."""
    call = model.parent(node)
    return isinstance(call, ast.Call) and model.names.qualified(call.func) in (
        "builtins.list",
        "builtins.tuple",
        "builtins.sum",
        "builtins.set",
    )


def message(call: ast.expr, tensor: ast.expr, model: SemanticModel) -> str:
    """Return the message: what is read, and what it costs here."""
    shown, source = (model.source.text(part) for part in (call, tensor))
    otherwise = f"`{called(call)}`" if isinstance(call, ast.Call) else "The condition"
    shown = f"`{shown}`" if len(shown) <= LONGEST_SHOWN and "\n" not in shown else otherwise
    source = source if len(source) <= LONGEST_SHOWN and "\n" not in source else "a tensor"
    source = source if source == "a tensor" else f"`{source}`"
    waits = (
        ""
        if model.types.type_of(tensor).device is Device.HOST
        else ", and synchronises with a device for each"
    )
    return f"{shown} reads {source} number by number{waits}"


def called(call: ast.Call) -> str:
    """Return a call without its operand: `item()`, `float(...)`."""
    return f"{call.func.attr}()" if isinstance(call.func, ast.Attribute) else f"{last_name(call.func)}(...)"


def rank_of_items(part: ast.expr, model: SemanticModel) -> int:
    """Return the number of dimensions of what is read as one number, as far as it is known."""
    item = operand_of(part, model) if isinstance(part, ast.Call) else part
    return (model.types.type_of(item).rank or 0) if item is not None else 0


def holds_rows(part: ast.expr, read: TensorRead, model: SemanticModel) -> bool:
    """Whether what is read as one number is a row of several: `rewards[i].item()` of `torch.zeros(n, 9)`."""
    return rank_of_items(part, model) > 0 and has_wide_rows(read.tensor, model)


def advice(part: ast.expr, read: TensorRead, model: SemanticModel) -> str:
    """Return what to write instead."""
    tensor = model.source.text(read.tensor)
    listed = "flatten().tolist()" if rank_of_items(part, model) else "tolist()"
    if len(tensor) > LONGEST_SHOWN or "\n" in tensor:
        return f"Read all numbers at once with `{listed}` before the loop"
    return f"Read all numbers at once, before the loop: `{model.edit.parenthesized(read.tensor)}.{listed}`"
