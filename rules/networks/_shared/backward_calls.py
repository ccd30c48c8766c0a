"""Gradient computations: `loss.backward()`, `accelerator.backward(loss)`, `torch.autograd.grad(loss, w)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Function, SemanticModel, TypeTag, argument_count, descendants, frozen

BACKWARD = frozenset({"backward", "manual_backward", "grad"})
"""Last names of the functions and methods."""
_FUNCTIONS = {
    "torch.autograd.backward": ("tensors", "grad_tensors", "retain_graph", "create_graph"),
    "torch.autograd.grad": ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"),
}
_METHOD = ("gradient", "retain_graph", "create_graph")


@frozen
class Backward:
    """One computation of gradients: of which value, and its arguments by name."""

    call: ast.Call
    loss: ast.expr
    arguments: dict[str, ast.expr]
    is_complete: bool
    """Whether no arguments are passed by `*` or `**`."""


def backward_of(call: ast.Call, model: SemanticModel) -> Backward | None:
    """Return what a call differentiates; None if it computes no gradient."""
    qualified = model.names.qualified(call.func)
    if qualified in _FUNCTIONS:
        names: tuple[str, ...] = _FUNCTIONS[qualified]
        given = _arguments(call, names)
        loss = given.get(names[0])
    else:
        match call.func:
            case ast.Attribute(value=owner, attr="backward" | "manual_backward" as method):
                pass
            case _:
                return None
        if method == "manual_backward" or _is_handed(call, owner, model):
            given = _arguments(call, ("loss",))
            loss = given.get("loss") or (call.args[0] if call.args else None)
        else:
            given = _arguments(call, _METHOD)
            loss = owner
    if loss is None or isinstance(loss, ast.Starred):
        return None
    return Backward(call, loss, given, is_complete=argument_count(call) is not None)


def backwards_in(function: Function | None, model: SemanticModel) -> Iterator[Backward]:
    """Yield the computations of gradients in a function."""
    for name in sorted(BACKWARD):
        for call in model.names.calls_named(name, function):
            found = backward_of(call, model)
            if found is not None:
                yield found


def _arguments(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    given = dict(zip(names, call.args, strict=False))
    return given | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _is_handed(call: ast.Call, owner: ast.expr, model: SemanticModel) -> bool:
    """Whether `backward` is that of an accelerator or engine which is passed the loss, rather than that of a
    tensor, to which a gradient may be passed.
    """
    if not call.args or model.types.type_of(owner).tag is TypeTag.TENSOR:
        return False
    match call.args[0]:
        case ast.Constant() | ast.Starred():
            return False
    if any(isinstance(node, ast.Call) for node in descendants(owner)):
        return False  # `loss.mean().backward(weight)`
    own = model.gradients.sources(owner)
    return not any(map(model.gradients.gives_gradient, own.calls)) and bool(
        model.gradients.sources(call.args[0]).calls
    )
