"""An array or tensor that is copied although the same expression just created it.

## What it does
Flags a copy of a newly allocated array or tensor that nothing else refers to, in code that runs repeatedly:
`np.stack(rows).copy()`, `np.array(np.concatenate(parts))`, `torch.stack(rows).clone()`, `(a + b).clone()`,
`rows[indices].copy()` with an array of indices.

The rule does not flag copies of views (`x[1:]`, `x.T`, `x.numpy()`), copies of results of the program's own
functions, copies of results that may be the argument itself (`np.asarray`, `x.to(device)`, `x.float()`),
and code that runs once.

## Why is it slow
The copy allocates and fills the memory a second time, and the first array is freed immediately.

## Example
```python
import numpy as np


class Replay:
    def __init__(self) -> None:
        self.frames = []

    def sample(self, first: int, count: int) -> np.ndarray:
        return np.stack(self.frames[first : first + count]).copy()
```
Use instead:
```python
import numpy as np


class Replay:
    def __init__(self) -> None:
        self.frames = []

    def sample(self, first: int, count: int) -> np.ndarray:
        return np.stack(self.frames[first : first + count])
```

## Fix safety
Always unsafe: the values are the same, but NumPy's `copy()` returns a C-contiguous array, while the first
array may be Fortran-ordered, and a subclass may override `copy`.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.ndarray.copy.html
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.clone.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, Trait, TypeTag, models

_COPYING = {"copy": TypeTag.NDARRAY, "clone": TypeTag.TENSOR}
_CONVERTS = frozenset({"numpy.array", "numpy.copy"})
_MAKES = Trait.JOINS | Trait.FILLS | Trait.FILLS_LIKE | Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.COPIES


class CopyOfFreshCopy(Rule):
    """RL117."""

    code = "RL117"
    name = "copy-of-fresh-copy"
    claims = ("time",)
    heat = Heat.WARM
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"copy", "clone", "array"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a copy of a value that the same expression creates."""
        assert isinstance(node, ast.Call)
        made = copied(node, model)
        if made is None or not is_new(made, model):
            return
        text = " ".join(model.source.text(made).split())
        text = text if len(text) <= 50 else f"{text[:47]}..."
        yield self.finding(
            model,
            node,
            f"`{text}` already allocates new memory, and is copied once more",
            fix=build_fix(node, made, model),
            advice="Remove the copy",
        )


def copied(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return what a call copies unchanged; None for other calls."""
    match call:
        case ast.Call(func=ast.Attribute(value=made, attr="copy" | "clone" as name), args=[], keywords=[]):
            known = model.types.type_of(made)
            return made if known.tag is _COPYING[name] and not known.optional else None
        case ast.Call(args=[made], keywords=[]) if model.names.qualified(call.func) in _CONVERTS:
            return made if model.types.type_of(made).tag is TypeTag.NDARRAY else None
    return None


def is_new(made: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression allocates its value, and no other code can hold it."""
    if not model.types.type_of(made).fresh:
        return False
    match made:
        case ast.BinOp():
            return True
        case ast.Subscript(slice=ast.Name() as index):
            return model.types.type_of(index).tag in (TypeTag.NDARRAY, TypeTag.TENSOR)
        case ast.Call(func=called, keywords=keywords):
            if any(keyword.arg in ("out", "inplace", None) for keyword in keywords):
                return False
            path = model.names.qualified(called)
            if path:
                return path == "numpy.array" or path in models.having(_MAKES, "numpy", "torch")
            if isinstance(called, ast.Attribute):
                tag = model.types.type_of(called.value).tag
                return tag in (TypeTag.NDARRAY, TypeTag.TENSOR) and called.attr in models.having(_MAKES, tag)
    return False


def build_fix(call: ast.Call, made: ast.expr, model: SemanticModel) -> Fix | None:
    """Use the new value itself."""
    reason = "the copy may have another memory layout"
    edit = model.edit.replace(call, model.edit.parenthesized(made))
    return Fix("Remove the copy", Applicability.UNSAFE, (edit,), reason)
