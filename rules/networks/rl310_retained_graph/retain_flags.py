"""Where `retain_graph` is true: in the call of a backward pass, or in calls of a helper that passes it on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    TypeTag,
    defaults_of,
    element_at,
    frozen,
    is_constant,
)
from rlint.rules.networks._shared.backward_calls import Backward
from rlint.rules.networks.rl310_retained_graph.handed_losses import (
    losses_handed,
    passed_for,
)


@frozen
class RetainFlag:
    """The `flag` of a `call` that retains the graph of `loss`; `place` is where the loss is complete."""

    call: ast.Call
    loss: ast.expr
    place: ast.expr
    flag: ast.expr | None
    """The argument that sets it; None if it cannot be removed."""


def retain_flags(backward: Backward, model: SemanticModel) -> Iterator[RetainFlag]:
    """Yield where the graph of a backward pass is retained. Nothing if the graph of the gradient is created,
    too.
    """
    if "create_graph" in backward.arguments:
        return
    call, loss = backward.call, backward.loss
    place = loop_over_losses(loss, model) or call
    value = backward.arguments.get("retain_graph")
    if not backward.is_complete:
        if value is None and any(_is_set_by(each, model) for each in call.keywords):
            yield RetainFlag(call, loss, place, None)
        return
    if is_constant(value, value=True):
        yield RetainFlag(call, loss, place, value)
    elif isinstance(value, ast.Name):
        bindings = model.dataflow.definitions(value)
        if bindings and all(map(_is_true, bindings)):
            removable = all(binding.kind is BindingKind.ASSIGN for binding in bindings)
            yield RetainFlag(call, loss, place, value if removable else None)
        elif [binding.kind for binding in bindings] == [BindingKind.PARAMETER]:
            yield from _set_by_callers(backward, value.id, model)


def loop_over_losses(loss: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the losses over which a loop iterates: `losses` for `loss` in `for loss in losses`."""
    match model.dataflow.definitions(loss) if isinstance(loss, ast.Name) else ():
        case [Binding(kind=BindingKind.FOR, value=ast.expr() as losses)] if _is_list(losses, model):
            return losses
    return None


def _is_list(losses: ast.expr, model: SemanticModel) -> bool:
    """Whether a loop iterates over a list or tuple of losses, rather than over the items of a tensor."""
    match losses:
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed"), args=args):
            return bool(args) and all(_is_list(each, model) for each in args[:1])
        case ast.Call(func=ast.Attribute(value=owner, attr="values" | "items")):
            return model.types.type_of(owner).tag is TypeTag.DICT
    return model.types.type_of(losses).tag in (TypeTag.LIST, TypeTag.TUPLE)


def _is_true(binding: Binding) -> bool:
    """Whether a variable is true, in the last iteration: `for loss, keep in ((a, True), (b, True))`."""
    if binding.kind is BindingKind.ASSIGN:
        value = element_at(binding.value, binding.path)
    elif binding.kind is BindingKind.FOR:
        value = element_at(binding.value, (-1, *binding.path))
    else:
        return False
    return is_constant(value, value=True)


def _is_set_by(keyword: ast.keyword, model: SemanticModel) -> bool:
    """Whether `**options` sets `retain_graph`, and options are written in the function."""
    if keyword.arg is not None:
        return False
    value: ast.expr | None = keyword.value
    if isinstance(value, ast.Name):
        match model.dataflow.definitions(value):
            case [Binding(kind=BindingKind.ASSIGN, value=ast.expr() as written, path=())]:
                value = written
    match value:
        case ast.Dict(keys=[ast.Constant(value="retain_graph")], values=[ast.Constant(value=True)]):
            return True
        case ast.Call(
            func=ast.Name(id="dict"),
            args=[],
            keywords=[ast.keyword(arg="retain_graph", value=ast.Constant(value=True))],
        ):
            return True
    return False


def _set_by_callers(backward: Backward, name: str, model: SemanticModel) -> Iterator[RetainFlag]:
    """Yield the calls of a helper which pass it a loss, and true for a parameter of this name."""
    function, summary = model.function(backward.call), model.symbols.function_at(backward.call)
    if function is None or summary is None:
        return
    default = defaults_of(function.args).get(name)
    is_off = isinstance(default, ast.Constant) and not default.value
    for call, loss in losses_handed(backward.call, backward.loss, model):
        for value in passed_for(name, call, summary):
            if is_constant(value, value=True):
                is_last = value not in call.args[:-1]
                yield RetainFlag(call, loss, call, value if is_off and is_last else None)
