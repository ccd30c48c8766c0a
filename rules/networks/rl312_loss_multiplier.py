"""A loss multiplied by a large literal number just before `backward()`.

## What it does
Flags `(loss * 1000).backward()`, and `loss = loss * 1000` or `loss *= 1000` before the next `backward()` of
that loss, where the factor is a literal number of a hundred or more.

The rule does not flag a named coefficient, a factor of one term among several, a factor that the gradients
are divided by later (`p.grad /= 1000`), and the scale of a `GradScaler`.

The rule is opt-in, because the factor costs no time. It exists because the factor changes what is learned,
usually by accident.

## Why is it slow
It is not slow by itself. The gradients of all weights grow by the factor. With plain gradient descent the
effective learning rate grows with them, a following `clip_grad_norm_` clips in every step, and half
precision overflows sooner. `Adam` cancels the factor, which then only hides the true learning rate. The
cost is a training run that has to be repeated.

## Example
```python
import torch
from torch import nn


def fit(net: nn.Module, optimizer: torch.optim.Optimizer, batches) -> None:
    for states, targets in batches:
        loss = nn.functional.mse_loss(net(states), targets)
        loss = loss * 1000
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead (by hand):
```python
import torch
from torch import nn


def fit(net: nn.Module, optimizer: torch.optim.Optimizer, batches) -> None:
    for states, targets in batches:
        loss = nn.functional.mse_loss(net(states), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
There is no fix: without the factor, training gives another policy, and only the author can decide which is
better.

## References
- https://pytorch.org/docs/stable/amp.html#gradient-scaling
- https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import BindingKind, EscapeLevel, Finding, Heat, Rule, SemanticModel

_LARGE = 100


class LossMultiplier(Rule):
    code = "RL312"
    name = "loss-multiplier"
    seeds = ("S2.2",)
    claims = ()
    heat = Heat.WARM
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"backward"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        match node.func:
            case ast.Attribute(value=loss, attr="backward"):
                pass
            case _:
                return
        found = multiplied(loss, node, model)
        if found is None or scales_gradients_back(node, model):
            return
        product, factor = found
        yield self.finding(
            model,
            product,
            f"The loss is multiplied by {model.source.text(factor)} before `backward`, which multiplies the "
            f"gradient of every weight",
            advice="Remove the factor and tune the learning rate, or name it if it is a coefficient",
        )


def multiplied(loss: ast.expr, backward: ast.Call, model: SemanticModel) -> tuple[ast.AST, ast.expr] | None:
    """Return the product that `backward` differentiates, and its large literal factor."""
    if not isinstance(loss, ast.Name):
        factor = factor_of(loss)
        return (loss, factor) if factor is not None else None
    bindings = model.dataflow.definitions(loss)
    if len(bindings) != 1 or bindings[0].path:
        return None
    binding = bindings[0]
    match binding.kind, binding.node, binding.statement:
        case BindingKind.AUGMENT, _, ast.AugAssign(op=ast.Mult(), value=value) if is_large(value):
            return binding.statement, value
        case BindingKind.ASSIGN, _, _ if binding.value is not None:
            factor = factor_of(binding.value)
            if factor is not None and model.dataflow.between(binding.statement, backward) is not None:
                return binding.value, factor
    return None


def factor_of(product: ast.expr) -> ast.expr | None:
    """Return the large number by which a whole expression is multiplied."""
    match product:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for number, other in ((right, left), (left, right)):
                if is_large(number) and not isinstance(other, ast.Constant):
                    return number
    return None


def is_large(number: ast.expr) -> bool:
    """Whether a literal is a hundred or more, regardless of sign (`-1000 * objective` is a product, too)."""
    match number:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_large(operand)
        case ast.Constant(value=int() | float() as value):
            return value >= _LARGE
    return False


def scales_gradients_back(backward: ast.Call, model: SemanticModel) -> bool:
    """Whether the function writes to `.grad`, as code that scales the loss for half precision does."""
    function = model.function(backward)
    for use in model.names.attribute_uses("grad"):
        if model.function(use) is function and is_written(use, model):
            return True
    return False


def is_written(grad: ast.Attribute, model: SemanticModel) -> bool:
    """Whether `x.grad` (or its `.data`) is assigned or modified in place."""
    return (
        model.names.assigned(grad) is not None
        or model.dataflow.use_of(grad).escape_level is EscapeLevel.CHANGED
    )
