"""Calls that move a tensor to a device."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, SemanticModel, TypeTag, frozen, last_name, regex, unpacked_options

_NO_MOVE = regex(r"d?type|precision|float|half|double|long|^int|bool|cpu|host")
_OF_TO = ("device", "dtype", "non_blocking")


@frozen
class DeviceMove:
    """`.to(device)` or `.cuda()` of a tensor; `device` is None for the current CUDA device."""

    call: ast.Call
    source: ast.expr
    device: ast.expr | None
    dtype: ast.expr | None
    continues: bool  # without waiting
    like: ast.expr | None = None
    """Return the tensor whose device is used: `x` in `.to(x)` and `.type_as(x)`."""
    options: ast.expr | None = None
    """The dict with the device: `x` in `.to(**x)`."""


def move_of(call: ast.Call, model: SemanticModel) -> DeviceMove | None:
    """Return the move of a call, to a device that need not be the host."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="type_as"), args=[like], keywords=[]):
            return _move_to(like, call, source, model)
        case ast.Call(func=ast.Attribute(value=source, attr="type"), args=[to], keywords=[]):
            there = _is_device_type(to, model)
            return DeviceMove(call, source, None, None, continues=False) if there else None
        case ast.Call(func=ast.Attribute(value=source, attr="cuda"), args=[], keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {"device", "non_blocking"}
        case ast.Call(func=ast.Attribute(value=source, attr="cuda"), args=[_], keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {"non_blocking"}
        case ast.Call(func=ast.Attribute(value=source, attr="to"), args=args, keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {*_OF_TO}
            if len(args) > len(_OF_TO) or not (args or keywords):
                return None
        case _:
            return None
    named = dict(zip(_OF_TO, call.args, strict=False))
    named |= {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
    if unknown == {None}:
        return _move_by_options(call, source, model)
    if unknown or any(isinstance(value, (ast.Starred, ast.NamedExpr)) for value in named.values()):
        return None
    device = named.get("device")
    is_to = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    if device is None and is_to:
        return None
    if device is not None and is_to and not model.types.is_device(device):
        return _move_to(device, call, source, model) if len(named) == 1 else None
    if device is not None and model.types.device_of(device) is Device.HOST:
        return None
    waits = named.get("non_blocking")
    continues = waits is not None and not (isinstance(waits, ast.Constant) and not waits.value)
    return DeviceMove(call, source, device, named.get("dtype"), continues)


def _move_by_options(call: ast.Call, source: ast.expr, model: SemanticModel) -> DeviceMove | None:
    """Return the move of `x.to(**options)`."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword(arg=None, value=options)]
        ):
            given = unpacked_options(call, model.types.type_of) or {}
        case _:
            return None
    if "device" not in given or given.keys() - {*_OF_TO}:
        return None
    if model.types.device_of(given["device"]) is Device.HOST:
        return None
    return DeviceMove(call, source, None, None, "non_blocking" in given, options=options)


def _move_to(like: ast.expr, call: ast.Call, source: ast.expr, model: SemanticModel) -> DeviceMove | None:
    """Return the move to the device of another tensor."""
    kind = model.types.type_of(like)
    if kind.device is Device.HOST or kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return None
    if not kind and (
        not isinstance(like, (ast.Name, ast.Attribute, ast.Subscript))
        or _NO_MOVE.search((last_name(like) or "").lower())
        or (model.names.qualified(like) or "").startswith("torch.")
    ):
        return None
    return DeviceMove(call, source, None, None, continues=False, like=like)


def _is_device_type(named: ast.expr, model: SemanticModel, depth: int = 3) -> bool:
    """Whether this is a CUDA tensor type, at least if there is a device. `torch.cuda.FloatTensor if use_cuda
    else torch.FloatTensor`.
    """
    match named:
        case ast.Constant(value=str(name)):
            return name.startswith("torch.cuda.")
        case ast.IfExp(body=body, orelse=orelse) if depth > 0:
            return _is_device_type(body, model, depth - 1) or _is_device_type(orelse, model, depth - 1)
    if (
        "torch.cuda." in (model.names.qualified(named) or "")
        or "torch.cuda." in model.types.type_of(named).of
    ):
        return True
    if not isinstance(named, ast.Name) or depth <= 0:
        return False
    return any(
        binding.kind is BindingKind.ASSIGN
        and binding.value is not None
        and not binding.path
        and _is_device_type(binding.value, model, depth - 1)
        for binding in model.dataflow.definitions(named)
    )
