"""A clone that is recorded in the autograd graph and then detached.

## What it does
Flags `x.clone().detach()` in hot code where autograd may record the clone. `torch.clone(x)`,
`torch.detach(...)` and `detach_()` are recognised as well. Where autograd is off, or the tensor carries no
gradient, both orders cost the same, and the rule is silent.

The rule is opt-in: it saves one recorded operation, which is only measurable for small tensors. Memory is
the same in both orders.

## Why is it slow
While gradients are recorded, `clone` creates a node of the graph and links it to the nodes of its argument,
and `detach` discards it again. If the tensor is detached first, the copy is not recorded.

## Example
```python
import torch
from torch import nn


def collect(net: nn.Module, observations: list, optimizer: torch.optim.Optimizer) -> list:
    seen = []
    for observation in observations:
        values = net(observation)
        values.sum().backward()
        optimizer.step()
        seen.append(torch.relu(values).clone().detach())
    return seen
```
Use instead:
```python
import torch
from torch import nn


def collect(net: nn.Module, observations: list, optimizer: torch.optim.Optimizer) -> list:
    seen = []
    for observation in observations:
        values = net(observation)
        values.sum().backward()
        optimizer.step()
        seen.append(torch.relu(values).detach().clone())
    return seen
```

## Fix safety
Safe for values that are known to be tensors: values, strides and all other properties of the result are the
same in both orders, also for sparse tensors.

Unsafe where the class is not known, or where a class of the program derives from `torch.Tensor` and defines
`clone` or `detach` itself: that class may notice the difference.

## References
- https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html
- https://pytorch.org/docs/stable/generated/torch.clone.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from rlint.rule import Applicability, Autograd, Finding, Fix, Heat, Rule, SemanticModel, TypeTag, cst

DETACHES = frozenset({"detach", "detach_"})


class CloneBeforeDetach(Rule):
    code = "RL306"
    name = "clone-before-detach"
    seeds = ("S3.2",)
    claims = ("time",)
    heat = Heat.HOT
    opt_in: ClassVar[bool] = True
    visits = (ast.Call,)
    callees = DETACHES

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        clone = detached(node, model)
        tensor = cloned(clone, model) if clone is not None else None
        if clone is None or tensor is None:
            return
        kind = model.types.type_of(tensor)
        if (
            kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN)
            or model.gradients.autograd_at(node) is Autograd.OFF
        ):
            return
        sources = model.gradients.sources(tensor)
        if not (sources.calls or sources.parameters or sources.kept):
            return
        text = model.source.text(tensor)
        message = f"The clone of `{text}` is recorded in the autograd graph, only to be detached"
        if "\n" in text:
            message = "A clone is recorded in the autograd graph, only to be detached"
        yield self.finding(
            model,
            node,
            message,
            fix=build_fix(node, tensor, model, known=is_plain_tensor(tensor, model)),
            advice="Detach first: `x.detach().clone()`",
        )


def is_plain_tensor(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether a value surely is a tensor whose class does not override `clone` or `detach`."""
    kind = model.types.type_of(tensor)
    known = kind.tag is TypeTag.TENSOR and not kind.optional
    return known and not model.types.may_override(tensor, "clone", "detach", "detach_")


def detached(call: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the call whose result this one detaches."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=method), args=[], keywords=[]):
            return inner if method in DETACHES else None
        case ast.Call(func=func, args=[ast.Call() as inner], keywords=[]):
            return inner if model.names.qualified(func) == "torch.detach" else None
    return None


def cloned(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the argument of a clone."""
    if any(keyword.arg != "memory_format" for keyword in call.keywords):
        return None
    if model.names.qualified(call.func) == "torch.clone":
        return call.args[0] if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) else None
    match call:
        case ast.Call(func=ast.Attribute(value=tensor, attr="clone"), args=[]):
            return tensor
    return None


def build_fix(detach: ast.Call, tensor: ast.expr, model: SemanticModel, *, known: bool) -> Fix | None:
    """Swap the calls."""
    if not model.edit.is_relocatable(detach):
        return None
    edit = model.edit.rewrite(detach, detached_first, code="detach clone")
    safety, reason = Applicability.SAFE, None
    if not known:
        safety = Applicability.UNSAFE
        reason = (
            f"`{model.source.text(tensor)}` must be a plain tensor: for other classes the order may matter"
        )
    return Fix("Detach first", safety, (edit,), reason)


def detached_first(detach: cst.Call) -> cst.Call:
    """Return `x.detach().clone(...)` for `x.clone(...).detach()`, each of which may be a function instead."""
    clone = cst.ensure_type(called_on(detach), cst.Call)
    options = [argument for argument in clone.args if argument.keyword is not None]
    inner = as_method("detach", [], clone, called_on(clone))
    return as_method("clone", options, detach, inner)


def called_on(call: cst.Call) -> cst.BaseExpression:
    """Return the tensor that a method, or a function of torch, is called on."""
    given = [argument.value for argument in call.args if argument.keyword is None]
    return given[0] if given else cst.ensure_type(call.func, cst.Attribute).value


def as_method(name: str, options: list[cst.Arg], call: cst.Call, tensor: cst.BaseExpression) -> cst.Call:
    """Replace a call by a method call on a tensor; the dot of a method stays on its line."""
    is_function = any(argument.keyword is None for argument in call.args)
    func = cst.Attribute(tensor, cst.Name(name))
    if not is_function:
        func = cst.ensure_type(call.func, cst.Attribute).with_changes(value=tensor, attr=func.attr)
    return cst.Call(func, options, lpar=call.lpar, rpar=call.rpar)
