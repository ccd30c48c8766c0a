"""A tensor indexed by a Python list or range, which is converted to a tensor each time.

## What it does
Flags tensors in hot code that are indexed by

- `range(…)`, `list(range(…))` and similar expressions, as the only index (`batch[list(range(start,
  stop))]`) or beside another one (`values[range(n), actions]`);
- a list of numbers that indexes several tensors, alone or with other indices (`states[rows, t]`), or is the
  same in every iteration, once for each block of statements that does so;
- a variable that lists consecutive numbers (`columns = list(range(n))`), beside slices only (`states[:,
  columns]`), which a slice would select as well;
- a list of numbers in an attribute (`self.weight[self.members]`), or a tuple of them beside other indices
  (`self.weight[self.members, :]`), which is converted in every call;
- an array of NumPy that indexes several tensors which may be on a device, alone or beside slices, and is
  copied there for each: `self.states[rows]`, `self.actions[rows]`, after `rows = np.random.randint(0, n,
  size)`, also in a loop over the tensors (`{name: part[rows] for name, part in parts.items()}`).

A value of unknown type that a network returns (`policy.forward(state)`), or of which a method of a network
takes columns, likely is a tensor. So is one that takes a range beside another index, if that is a tensor, if
torch or a method of tensors computes with the rows.

The rule does not flag arrays, lists that index one tensor once (converting them first takes as long), and
short lists of literal numbers.

## Why is it slow
To index by a list, torch reads its items one by one, creates a tensor in host memory, and copies it to the
device of the indexed tensor with a blocking copy. It repeats that for each tensor and in every iteration. A
slice needs no conversion and no copy. An index tensor is used directly if `torch.arange` creates it on the
device, or if the list is converted once.

## Example
```python
import torch


def learn(optimizer, policy, batches):
    for states, actions in batches:
        values: torch.Tensor = policy(states)
        chosen = values[range(len(actions)), actions]
        optimizer.zero_grad()
        chosen.mean().backward()
        optimizer.step()
```

Use instead:

```python
import torch


def learn(optimizer, policy, batches):
    for states, actions in batches:
        values: torch.Tensor = policy(states)
        chosen = values[torch.arange(len(actions), device=values.device), actions]
        optimizer.zero_grad()
        chosen.mean().backward()
        optimizer.step()
```

## Fix safety
Beside another index, `range(n)` becomes a `torch.arange` on the same device. That is safe where `n` is a
length or a size. It is unsafe where `n` might be negative: `range` is then empty, and `torch.arange` raises
an error.

As the only index, a range becomes a slice. That fix is unsafe: a slice shares memory with the tensor, and
it stops at the end of the tensor, where an index raises an error.

For lists there is only advice: `index = torch.tensor(rows)`, once for all uses.

## References
- https://docs.pytorch.org/docs/stable/tensors.html#torch.Tensor
- https://docs.pytorch.org/docs/stable/generated/torch.arange.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Binding,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    is_dotted_name,
)
from rlint.rules.transfers._shared.accelerators import may_use_accelerator
from rlint.rules.transfers._shared.evaluated import is_unchanged_between
from rlint.rules.transfers.rl209_index_by_list.array_indices import has_array, index_array
from rlint.rules.transfers.rl209_index_by_list.likely_tensors import (
    is_likely_tensor,
    is_network_output,
    takes_rows,
)
from rlint.rules.transfers.rl209_index_by_list.list_indices import (
    Counted,
    counted,
    counts_columns,
    held_list,
    is_never_negative,
    listed_binding,
    places_indexed_by,
    slice_text,
    tensors_indexed_by,
)

LONGEST_SHOWN = 40
_FEW = 4
_FEW_COPIES = "a few small copies once per step"


class IndexByList(Rule):
    code = "RL209"
    name = "index-by-list"
    claims = ("time", "sync:cuda")
    heat = Heat.HOT
    visits = (ast.Subscript,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Subscript)
        if isinstance(node.slice, (ast.Constant, ast.Slice)):
            return
        found = counted(node, model)
        if found is not None:
            is_known = model.types.type_of(node.value).tag is TypeTag.TENSOR
            takes = not is_known and takes_rows(node, found, model)
            if is_known or takes or is_network_output(node.value, model):
                yield self.finding(
                    model,
                    node,
                    f"{shown(found.node, 'a range', model)} is converted to a tensor, number by number, to "
                    f"index "
                    f"{shown(node.value, 'another', model)}",
                    fix=build_fix(node, found, model) if is_known or takes else None,
                    advice=advice(found),
                    assumes=None if is_known else f"{shown(node.value, 'the value', model)} is a tensor",
                )
            return
        held = held_list(node, model)
        if held is not None:
            yield from self._by_attribute(node, held, model)
            return
        if has_array(node.slice, model):
            yield from self._by_array(node, model)
            return
        binding = listed_binding(node.slice, model)
        if binding is not None and counts_columns(binding, node, model):
            yield from self._by_range(node, binding, model)
            return
        if binding is None or model.types.type_of(node.value).tag is not TypeTag.TENSOR:
            return
        places = tensors_indexed_by(binding, model)
        again = len(places) > 1
        made_in = {*model.frequency.loops(binding.statement), binding.statement}
        lasts = bool(set(model.frequency.loops(node)) - made_in)
        block, _ = model.syntax.block(model.syntax.statement(node))
        places_here = [place for place in places if is_directly_in(place, block, model)]
        if places_here[:1] == [node] and (again or lasts):
            name = binding.name
            often = f"in each of {len(places)} places" if again else "in every iteration"
            yield self.finding(
                model,
                node,
                f"The list `{name}` is converted to a tensor, number by number, {often} where it is an index",
                advice=f"Convert it to a tensor once: `{name} = torch.tensor({name}, device=...)`",
                related=[(place, "also indexed by it") for place in places_here[1:]],
            )

    def _by_range(self, node: ast.Subscript, binding: Binding, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a list of consecutive numbers in a variable that selects columns."""
        owner = shown(node.value, "the value", model)
        is_known = model.types.type_of(node.value).tag is TypeTag.TENSOR
        if not is_known and not is_likely_tensor(node, model):
            return
        yield self.finding(
            model,
            node,
            f"The list `{binding.name}` of consecutive numbers is converted to a tensor, number by number, "
            f"to index {owner}",
            advice="Take a slice, or copy one: `tensor[:, start:stop].clone()`",
            assumes=None if is_known else f"{owner} is a tensor",
            related=[(binding.statement, "listed here")],
        )

    def _by_array(self, node: ast.Subscript, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first of several tensors that an array indexes."""
        array = index_array(node, model) if may_use_accelerator(model) else None
        if array is None:
            return
        yield self.finding(
            model,
            node,
            f"The array `{array.name}` is copied to the device, by a blocking copy, {array.where(model)}",
            advice=f"Draw it there, or copy it once: `{array.name} = torch.as_tensor({array.name}, "
            f"device=...)`",
            related=[(place, "also indexed by it") for place in array.places[1:]],
            minor=_FEW_COPIES if len(array.places) <= _FEW else None,
        )

    def _by_attribute(
        self, node: ast.Subscript, held: ast.Attribute, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for the first place of a function where a list in an attribute is an index."""
        places = places_indexed_by(held, model)
        if places[:1] == [node]:
            name = model.source.text(held)
            kind = "tuple" if model.types.type_of(held).tag is TypeTag.TUPLE else "list"
            yield self.finding(
                model,
                node,
                f"The {kind} `{name}` is converted to a tensor, number by number, in every call",
                advice=f"Keep a tensor of indices instead: `{name} = torch.tensor(rows, device=...)`",
                related=[(place, "also indexed by it") for place in places[1:]],
            )


def is_directly_in(place: ast.AST, block: list[ast.stmt], model: SemanticModel) -> bool:
    """Whether a place is in a statement of this block itself, not in a loop or branch of it."""
    return model.syntax.block(model.syntax.statement(place))[0] is block


def shown(expression: ast.expr, otherwise: str, model: SemanticModel) -> str:
    """Return the source of an expression in backticks, if it is short."""
    text = model.source.text(expression)
    return otherwise if len(text) > LONGEST_SHOWN or "\n" in text else f"`{text}`"


def advice(found: Counted) -> str:
    """Return what to write instead."""
    if found.is_alone:
        return "Take a slice, or copy one: `tensor[start:stop].clone()`"
    return "Use `torch.arange(..., device=...)`, created once, or `gather`"


def build_fix(node: ast.Subscript, found: Counted, model: SemanticModel) -> Fix | None:
    """Use a slice if the range is the only index, else an index tensor on the device."""
    if not model.edit.is_relocatable(found.node):
        return None
    owner, counter = model.source.text(node.value), found.counter
    if found.is_alone:
        text = slice_text(counter, model)
        if text is None:
            return None
        reason = (
            f"a slice shares the memory of `{owner}`, and an index beyond its end no longer raises an error"
        )
        if isinstance(node.ctx, ast.Store):
            reason = (
                f"an index beyond the end of `{owner}` raises another error, and negative indices have "
                f"another meaning"
            )
        return Fix("Take a slice", Applicability.UNSAFE, (model.edit.replace(found.node, text),), reason)
    arange = model.names.spelled("torch.arange", node)
    if arange is None or not is_dotted_name(node.value) or not is_still_there(node.value, found, model):
        return None
    bounds = ", ".join(model.source.text(bound) for bound in counter.args)
    certain = is_never_negative(counter, model)
    return Fix(
        "Index by a tensor created on the device",
        Applicability.SAFE if certain else Applicability.UNSAFE,
        (model.edit.replace(found.node, f"{arange}({bounds}, device={owner}.device)"),),
        None
        if certain
        else (
            f"`{model.source.text(counter)}` must not count down: `torch.arange` raises where "
            "`range` is empty"
        ),
    )


def is_still_there(tensor: ast.expr, found: Counted, model: SemanticModel) -> bool:
    """Whether the tensor is the same after the indices before the range are evaluated, and can be read
    twice.
    """
    before = found.parts[: found.parts.index(found.node)]
    repeatable = isinstance(tensor, ast.Name) or model.effects.effect_of(tensor).quiet
    counts = all(model.effects.effect_of(bound).quiet for bound in found.counter.args)
    return repeatable and counts and is_unchanged_between(tensor, before, tensor, found.node, model)
