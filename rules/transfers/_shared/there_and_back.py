"""Tensors that are copied to the host and, after some computation, back to the device."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Device,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    legacy_tensors,
    models,
    regex,
    target_of_move,
    torch_settings,
)

_KEEP_TENSORS = models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | models.having(Trait.REDUCES, TypeTag.TENSOR)
SAME_NUMBERS = frozenset({"detach", "clone", "contiguous", "resolve_conj"})
_HOST = regex(r"cpu|host")
_DEPTH = 8
_MOST_BINDINGS = 4
_BOUND = (BindingKind.ASSIGN, BindingKind.WALRUS)


def ways_back(function: Function, model: SemanticModel) -> dict[ast.Call, ast.Call]:
    """Return the calls of a function that copy a tensor to the host, each with the first call that copies it,
    or a result computed from it, back to a device; query it through `model.once`.
    """
    found: dict[ast.Call, ast.Call] = {}
    for node in descendants(function):
        if not isinstance(node, ast.Call):
            continue
        for value in _taken_back(node, model):
            left = left_device(value, model)
            if left is not None and (left not in found or _is_before(node, found[left], model)):
                found[left] = node
    return found


def _is_before(one: ast.Call, other: ast.Call, model: SemanticModel) -> bool:
    return model.source.span(one) < model.source.span(other)


def is_copied_to_host(call: ast.expr, model: SemanticModel) -> bool:
    """Whether a call copies a tensor to the host: `.cpu()`, `.to("cpu")`, `.to(device="cpu")`. In a program
    that uses no other device, a variable `device` that is the CPU copies nothing.
    """
    match call:
        case ast.Call(func=ast.Attribute(attr="cpu"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="to")):
            target = target_of_move(call)
            if target is None or _is_where_all_runs(target, model):
                return False
            return model.types.is_device(target) and model.types.device_of(target) is Device.HOST
    return False


def _is_where_all_runs(target: ast.expr, model: SemanticModel) -> bool:
    """Whether a move names a device by a variable that is not called after the host (`x.to(self.device)`), in
    a program that does not mention CUDA.
    """
    is_named = isinstance(target, (ast.Name, ast.Attribute))
    after_host = _HOST.search((last_name(target) or "").lower()) is not None
    return is_named and not after_host and not model.program.sets(torch_settings.CUDA)


def original(source: ast.expr, model: SemanticModel) -> tuple[ast.expr, bool]:
    """Return the tensor whose numbers are copied (`x` in `x.detach().cpu()`), and whether a move to the host
    is written between it and `source`.
    """
    moved = False
    while True:
        match source:
            case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[]):
                moved = True
            case ast.Call(func=ast.Attribute(value=inner, attr="to")) if is_copied_to_host(source, model):
                moved = True
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in SAME_NUMBERS:
                pass
            case ast.Attribute(value=inner, attr="data"):
                pass
            case _:
                return source, moved
        source = inner


def leaves_device(call: ast.expr, model: SemanticModel) -> bool:
    """Whether a call copies a tensor to the host, also by the name of a type: `.type(torch.FloatTensor)`."""
    match call:
        case ast.Call(func=ast.Attribute(attr="type"), args=[named], keywords=[]):
            return model.names.qualified(named) in legacy_tensors.CLASSES
    return is_copied_to_host(call, model)


def left_device(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> ast.Call | None:
    """Return the earlier call by which a tensor, or its input, was copied to the host."""
    parts: list[ast.expr] = []
    match value:
        case ast.Call() if leaves_device(value, model):
            return value
        case ast.Name():
            bindings = model.dataflow.definitions(value)
            if len(bindings) <= _MOST_BINDINGS:
                simple = [each for each in bindings if each.kind in _BOUND and not each.path]
                parts = [each.value for each in simple if each.value is not None]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case (
            ast.UnaryOp(operand=owner) | ast.Subscript(value=owner) | ast.Attribute(value=owner, attr="data")
        ):
            parts = [owner]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            pass
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args):
            qualified = model.names.qualified(value.func)
            if qualified is None and method in _KEEP_TENSORS:
                parts = [owner, *args]
            elif qualified is not None and qualified.startswith("torch."):
                parts = list(args)
    for part in parts if depth > 0 else ():
        found = left_device(part, model, depth - 1)
        if found is not None:
            return found
    return None


def _taken_back(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return what a call moves to a device: its receiver, or arguments of a function of this file that moves
    its parameters.
    """
    source = _moved(call, model)
    if source is not None:
        return [source]
    if not call.args or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return []
    if model.names.qualified(call.func) is not None and isinstance(call.func, ast.Attribute):
        return []
    targets = model.types.call_targets(call)
    definition = model.types.definition(targets[0]) if len(targets) == 1 else None
    if definition is None:
        return []
    moved = model.once(_moved_parameters, definition)
    return [
        argument for place, argument in enumerate(call.args) if targets[0].parameter_at(str(place)) in moved
    ]


def _moved(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return what a call moves to a device that is not the host."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="cuda")):
            return source
        case ast.Call(func=ast.Attribute(value=source, attr="to"), args=[target, *_]):
            if model.types.is_device(target) and model.types.device_of(target) is not Device.HOST:
                return source
    return None


def _moved_parameters(function: Function, model: SemanticModel) -> frozenset[str]:
    """Return the parameters that a function moves to a device unchanged."""
    found = set()
    for node in descendants(function):
        source = _moved(node, model) if isinstance(node, ast.Call) else None
        if isinstance(source, ast.Name):
            bindings = model.dataflow.definitions(source)
            if bindings and all(each.kind is BindingKind.PARAMETER for each in bindings):
                found.add(source.id)
    return frozenset(found)
