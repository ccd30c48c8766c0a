"""Parts of a batch that `torch.as_tensor` copies to a device, in programs that pin memory."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, Driver, SemanticModel, TypeTag, torch_settings

_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})


def converted_part(call: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return `part` of `torch.as_tensor(part, device=device)`, if a loop over a parameter binds it and the
    program pins memory: the batch then comes from a loader that pins it.
    """
    match call:
        case ast.Call(args=[ast.Name() as part], keywords=keywords):
            named = {keyword.arg: keyword.value for keyword in keywords}
        case _:
            return None
    if "device" not in named or not named.keys() <= {"device", "dtype"}:
        return None
    if model.names.qualified(call.func) != "torch.as_tensor" or not model.program.sets(torch_settings.PINS):
        return None
    if model.types.device_of(named["device"]) in (Device.HOST, Device.OTHER):
        return None
    kind = model.types.type_of(part)
    if kind.tag not in (TypeTag.UNKNOWN, TypeTag.TENSOR) or kind.device not in (Device.UNKNOWN, Device.HOST):
        return None
    return part if _is_of_parameter(part, model) and not _is_of_one_step(call, model) else None


def _is_of_parameter(part: ast.Name, model: SemanticModel) -> bool:
    """Whether a loop over a parameter, or over the entries of one, binds a variable."""
    bound = model.dataflow.definitions(part)
    if len(bound) != 1 or bound[0].kind not in _LOOPED:
        return False
    match bound[0].value:
        case ast.Name() as whole:
            given = model.dataflow.definitions(whole)
        case ast.Call(func=ast.Attribute(value=ast.Name() as whole, attr="items" | "values"), args=[]):
            given = model.dataflow.definitions(whole)
        case _:
            return False
    return all(binding.kind is BindingKind.PARAMETER for binding in given)


def _is_of_one_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node only runs in environment steps, where observations are arrays."""
    cadence = model.frequency.cadence(node)
    return cadence is None or cadence.drivers <= {Driver.ENVIRONMENT_STEP}
