"""Networks that choose an action for a single environment."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Driver,
    Function,
    SemanticModel,
    descendants,
    observations,
    one_row_batches,
)

_DEPTH = 4


def runs_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network, itself or by one of its methods."""
    run = model.nn.network_run(call)
    return run is not None and (run[0] is not call.func or model.gradients.gives_gradient(call))


def sees_one(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a network gets one observation: a batch of one, or an input that leads to an action that is one
    number.
    """
    if any(is_one_row(value, model, _DEPTH) for value in call.args):
        return True
    shown = any(is_shown(node, model) for value in call.args for node in descendants(value))
    return shown and gives_one_number(call, model)


def gives_one_number(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the function around a call steps the environment with one number (`action.item()`), or chooses
    one for its caller, without learning.
    """
    return model.once(_yields_one_number, model.function(call))


def _yields_one_number(function: Function | None, model: SemanticModel) -> bool:
    for step in model.names.calls_named("step", function):
        is_step = model.analysis.loops.driver_of(step) is Driver.ENVIRONMENT_STEP
        if is_step and step.args and is_number(step.args[0], model):
            return True
    if function is None or model.nn.takes_gradient_steps(function):
        return False
    returned = (node.value for node in descendants(function) if isinstance(node, ast.Return))
    return any(value is not None and is_number(value, model) for value in returned)


def is_number(value: ast.expr, model: SemanticModel) -> bool:
    """Whether it is `x.item()` or `int(x)`, or a variable bound to one of these."""
    match value:
        case ast.Call(func=ast.Attribute(attr="item"), args=[]) | ast.Call(func=ast.Name(id="int"), args=[_]):
            return True
        case ast.Name():
            made = [
                binding.value
                for binding in model.dataflow.definitions(value)
                if binding.kind is BindingKind.ASSIGN
            ]
            return any(m is not None and not isinstance(m, ast.Name) and is_number(m, model) for m in made)
    return False


def is_one_row(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether it is an observation that was expanded to a batch of one, here or in a variable's
    assignment.
    """
    for node in descendants(value):
        wrapped = one_row_batches.only_row(node, model)
        if wrapped is not None and any(is_shown(part, model) for part in descendants(wrapped)):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and depth:
            bindings = model.dataflow.definitions(node)
            made = (
                bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
            )
            if made is not None and model.once(_is_one_row, (made, depth - 1)):
                return True
    return False


def _is_one_row(value: tuple[ast.expr, int], model: SemanticModel) -> bool:
    return is_one_row(value[0], model, value[1])


def is_shown(node: ast.AST, model: SemanticModel) -> bool:
    """Whether it is an observation of an environment, by its origin or its name."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    name = node.id if isinstance(node, ast.Name) else node.attr
    return observations.names_one(name) or observations.is_observation(node, model)
