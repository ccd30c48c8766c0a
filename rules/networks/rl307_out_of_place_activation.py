"""An activation that allocates its output although its input is no longer needed.

## What it does
Flags `nn.ReLU()`, `nn.LeakyReLU()`, `nn.ELU()` and similar modules without `inplace=True`, directly after a
linear or convolutional layer: in an `nn.Sequential`, in a list of layers, in two consecutive appends, or
stored as `self.relu` and only called on the output of such layers.

The rule does not flag activations after other operations: a skip connection, `Sigmoid`, `Tanh` and
`Softmax` need the values that would be overwritten.

The rule is opt-in because the gain is small. Each activation allocates one tensor less, but the time on a
CPU does not change. `ReLU` saves its output for the backward pass and frees its input, so peak memory stays
the same. `LeakyReLU` and `ELU` save their input, and need less memory in training if they overwrite it.
`torch.compile` does this by itself.

## Why is it slow
An activation that is not in place allocates memory for its output. This costs time on a device with a slow
allocator or with fragmented memory.

## Example
```python
from torch import nn

net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
```
Use instead:
```python
from torch import nn

net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(inplace=True), nn.Linear(64, 2))
```

## Fix safety
Always unsafe. Values are the same, and so are the gradients of `ReLU`, `ReLU6` and `LeakyReLU`. The
gradients of `ELU`, `CELU` and `SELU` are then computed from the output instead of the input, which rounds
differently.

The output of the previous layer is overwritten. Code that keeps it, by a forward hook or by running the
layers one at a time, sees other values, and `backward()` raises an error where autograd needs it.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.ReLU.html
- https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    last_names,
    models,
    parameters,
)

ACTIVATIONS = {
    name: parameters.PARAMETERS[name].index("inplace")
    for name in models.having(Trait.GRADIENT_BY_RESULT, "torch.nn")
}
"""Activations whose gradient follows from their result, with the position of `inplace` among their
arguments.
"""
EXACT = frozenset({"torch.nn.ReLU", "torch.nn.ReLU6", "torch.nn.LeakyReLU"})
LAYERS = models.names_having(Trait.AFFINE, "torch.nn")
REASON = "the output of the previous layer is overwritten, which hooks and code that runs single layers see"
ROUNDED = f"{REASON}; the gradient, which is then computed from the output, is rounded differently"


class OutOfPlaceActivation(Rule):
    code = "RL307"
    name = "out-of-place-activation"
    seeds = ("S4.1",)
    claims = ("alloc", "mem")
    heat = Heat.COLD
    opt_in = True
    visits = (ast.Call,)
    callees = last_names(*ACTIVATIONS)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        place = ACTIVATIONS.get(model.names.qualified(node.func) or "")
        if place is None or len(node.args) > place or any(k.arg in ("inplace", None) for k in node.keywords):
            return
        if not comes_from_layer(node, model):
            return
        edit = model.edit.with_keyword(node, "inplace", "True")
        reason = REASON if (model.names.qualified(node.func) or "") in EXACT else ROUNDED
        fix = (
            Fix("Make the activation in-place", Applicability.UNSAFE, (edit,), reason)
            if edit is not None
            else None
        )
        yield self.finding(
            model,
            node,
            (
                f"`{model.source.text(node.func)}` allocates its output, though its input is not needed any "
                f"more"
            ),
            fix=fix,
            advice="Pass `inplace=True` if no hook keeps the output of the previous layer",
        )


def comes_from_layer(activation: ast.Call, model: SemanticModel) -> bool:
    """Whether the only inputs of the activation are outputs of a linear or convolutional layer."""
    match model.parent(activation):
        case ast.Call(func=func, args=args) if activation in args and (
            model.names.qualified(func) == "torch.nn.Sequential"
        ):
            return follows_layer(args, activation, model)
        case ast.Call(func=ast.Attribute(value=ast.Name() as layers, attr="append"), args=[_]) as append:
            return is_appended_after_layer(append, layers, model)
        case ast.List(elts=elements) as layers:
            holder = model.parent(layers)
            by_hand = (
                isinstance(holder, ast.Call) and model.names.qualified(holder.func) == "torch.nn.ModuleList"
            )
            return not by_hand and follows_layer(elements, activation, model)
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name) as target]):
            return is_called_on_layers(target, name, model)
    return False


def follows_layer(elements: list[ast.expr], activation: ast.Call, model: SemanticModel) -> bool:
    """Whether a layer directly precedes the activation."""
    index = elements.index(activation)
    return index > 0 and is_layer(elements[index - 1], model)


def is_layer(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a linear or convolutional layer, created here or by a helper that initialises it."""
    if isinstance(expression, (ast.Starred, ast.Constant)):
        return False
    structure = model.nn.architecture(expression, None)
    return (
        structure.complete
        and len(structure.layers) == 1
        and not structure.classes
        and all(name.removeprefix("torch.nn.") in LAYERS for name in structure.layers)
    )


def is_appended_after_layer(append: ast.Call, layers: ast.Name, model: SemanticModel) -> bool:
    """Whether the previous statement is `layers.append(nn.Linear(...))`."""
    statement = model.syntax.statement(append)
    block, index = model.syntax.block(statement)
    if index == 0 or not isinstance(statement, ast.Expr):
        return False
    match block[index - 1]:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[layer])
        ):
            return name == layers.id and is_layer(layer, model)
    return False


def is_called_on_layers(target: ast.Attribute, name: str, model: SemanticModel) -> bool:
    """Whether `self.relu` of a class is only called on outputs of layers."""
    owner = model.class_of(target)
    uses = [use for use in model.names.attribute_uses(name) if use is not target]
    if owner is None or not uses:
        return False
    for use in uses:
        if model.class_of(use) is not owner:
            return False
        match model.parent(use):
            case ast.Call(
                func=func, args=[ast.Call(func=ast.Attribute(value=ast.Name(id="self")) as layer)]
            ) if func is use:
                if not is_layer(layer, model):
                    return False
            case _:
                return False
    return True
