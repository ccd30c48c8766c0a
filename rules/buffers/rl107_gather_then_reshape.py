"""Rows selected with an index array and then reshaped, one field after the other.

## What it does
Flags `states[indices].reshape(batch_size, -1)` in hot code, where `states` is known to be a NumPy array
whose rows hold several numbers. Replay buffers build a batch of each field in this way.

The rule does not flag one-dimensional arrays (`rewards[indices].reshape(-1, 1)`), for which brackets are
faster, tensors, or values that are not known to be arrays.

The rule is opt-in: the gain is small, and there is none for rows of one number.

## Why is it slow
The `reshape` is cheap: it returns a view of the copied rows. The copy takes the time. `numpy.take` copies
whole rows a little faster than indexing with brackets, which supports any mixture of indices, slices and
masks. The larger the row, the smaller the difference, because memory bandwidth then limits both.

## Example
```python
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity: int) -> None:
        self.states = np.zeros((capacity, 4, 49), dtype=np.float32)

    def sample(self, batch_size: int) -> np.ndarray:
        indices = np.random.randint(0, len(self.states), size=batch_size)
        return self.states[indices].reshape(batch_size, -1)
```

Use instead:

```python
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity: int) -> None:
        self.states = np.zeros((capacity, 4, 49), dtype=np.float32)

    def sample(self, batch_size: int) -> np.ndarray:
        indices = np.random.randint(0, len(self.states), size=batch_size)
        return np.take(self.states, indices, axis=0).reshape(batch_size, -1)
```

## Fix safety
Unsafe: `numpy.take` returns the same rows and rejects the same indices, but it reads a boolean mask as
indices 0 and 1. The fix does not pass `out=`. That would save the allocation, but would return the same
memory to every caller and so change batches that are still in use.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.take.html
- https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    BindingKind,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    last_name,
    regex,
)

INDICES = regex(r"(^|_)(idx|idxs|idxes|ind|inds|index|indexes|indices|rows)$")
KEEPS_ROWS = frozenset({"astype", "copy"})


class GatherThenReshape(Rule):
    code = "RL107"
    name = "gather-then-reshape"
    seeds = ("S2.3",)
    claims = ("time",)
    heat = Heat.HOT
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"reshape"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        reshaped = reshaped_by(node, model)
        if reshaped is None:
            return
        gathered = gathered_in(reshaped, model)
        if gathered is None or not has_rows(gathered.value, model):
            return
        if not may_be_indices(gathered.slice, model):
            return
        held = model.source.text(gathered.value)
        yield self.finding(
            model,
            gathered,
            f"`{held}` is gathered by advanced indexing; `numpy.take` copies whole rows faster",
            fix=build_fix(gathered, model),
            advice=f"Take the rows: `np.take({held}, ..., axis=0)`; the following `reshape` is only a view",
        )


def reshaped_by(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the array that a call reshapes into rows of several numbers."""
    match call:
        case ast.Call(func=ast.Attribute(value=array, attr="reshape"), args=shape, keywords=[]) if (
            model.names.qualified(call.func) is None
        ):
            pass
        case ast.Call(args=[array, *shape], keywords=[]) if (
            model.names.qualified(call.func) == "numpy.reshape"
        ):
            pass
        case _:
            return None
    if len(shape) == 1 and isinstance(shape[0], ast.Tuple):
        shape = shape[0].elts
    if len(shape) != 2 or (isinstance(shape[1], ast.Constant) and shape[1].value == 1):
        return None
    return array


def gathered_in(array: ast.expr, model: SemanticModel) -> ast.Subscript | None:
    """Return the `states[indices]` that an array is, also through a name and with a changed dtype."""
    match array:
        case ast.Subscript(slice=ast.Name() | ast.Attribute() | ast.BinOp() | ast.Subscript()):
            return array
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in KEEPS_ROWS:
            return gathered_in(inner, model)
        case ast.Name():
            made = model.dataflow.definitions(array)
            if (
                len(made) == 1
                and made[0].kind is BindingKind.ASSIGN
                and not made[0].path
                and made[0].value is not None
            ):
                value = made[0].value
                return None if isinstance(value, ast.Name) else gathered_in(value, model)
    return None


def has_rows(array: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a numpy array of at least two dimensions, as far as is known."""
    kind = model.types.type_of(array)
    return kind.tag is TypeTag.NDARRAY and (kind.rank is None or kind.rank > 1) and kind.dtype != "object"


def may_be_indices(index: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an array of integers, by its type or by its name."""
    kind = model.types.type_of(index)
    if kind.tag is TypeTag.NDARRAY and kind.dtype:
        return "int" in kind.dtype and kind.rank != 0
    if kind.tag not in (TypeTag.UNKNOWN, TypeTag.NDARRAY):
        return False
    if isinstance(index, ast.BinOp):
        return isinstance(index.op, (ast.Add, ast.Sub, ast.Mod)) and may_be_indices(index.left, model)
    return bool(INDICES.search(last_name(index) or "")) and not isinstance(index, ast.Subscript)


def build_fix(gathered: ast.Subscript, model: SemanticModel) -> Fix | None:
    """Take the rows with `numpy.take`."""
    take = model.names.spelled("numpy.take", gathered)
    if take is None or not model.edit.is_relocatable(gathered):
        return None
    text = f"{take}({model.source.text(gathered.value)}, {model.source.text(gathered.slice)}, axis=0)"
    return Fix(
        "Take the rows with `numpy.take`",
        Applicability.UNSAFE,
        (model.edit.replace(gathered, text),),
        f"`{model.source.text(gathered.slice)}` must hold integers, not a boolean mask",
    )
