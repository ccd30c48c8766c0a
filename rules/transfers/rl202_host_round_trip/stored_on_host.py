"""Device tensors that a loop stores in parts of a tensor in host memory."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, Function, SemanticModel, TypeTag
from rlint.rules.transfers._shared.tensor_constructors import is_constructor
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import is_placed_on_device


def stored_in(assignment: ast.Assign) -> ast.Name | None:
    """Return the variable in a part of which an assignment stores a value: `output` in `output[:, i] = x`."""
    match assignment.targets:
        case [ast.Subscript(value=ast.Name() as held)]:
            return held
    return None


def stores_in_host_tensors(function: Function, model: SemanticModel) -> dict[str, list[ast.Assign]]:
    """Return the assignments in loops of a function that store a device tensor in a part of a host tensor
    which the function itself creates, by the variable that holds the host tensor, in order.
    """
    found: dict[str, list[ast.Assign]] = {}
    for node in model.syntax.of_type(ast.Assign):
        held = stored_in(node)
        if held is not None and model.function(node) is function and _copies(node, model):
            found.setdefault(held.id, []).append(node)
    return {name: sorted(stores, key=model.source.span) for name, stores in found.items()}


def _copies(assignment: ast.Assign, model: SemanticModel) -> bool:
    held = stored_in(assignment)
    if held is None or not model.frequency.loops(assignment.value):
        return False
    kind = model.types.type_of(held)
    if kind.tag is not TypeTag.TENSOR or kind.device is not Device.HOST:
        return False
    value = model.types.type_of(assignment.value)
    if value.tag is not TypeTag.TENSOR or value.device in (Device.HOST, Device.OTHER):
        return False
    return _is_created_before_loop(held, assignment, model) and is_placed_on_device(assignment.value, model)


def _is_created_before_loop(held: ast.Name, assignment: ast.Assign, model: SemanticModel) -> bool:
    """Whether the only value of a variable is a tensor that the function creates outside of the loop."""
    made = model.dataflow.definitions(held)
    if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path:
        return False
    call = made[0].value
    if not isinstance(call, ast.Call) or model.function(call) is not model.function(assignment):
        return False
    name = model.names.qualified(call.func)
    if name is None or not is_constructor(call, name, model):
        return False
    return len(model.frequency.loops(call)) < len(model.frequency.loops(assignment.value))
