"""Arrays that are copied to the device for a little arithmetic, and the result back to the host."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Device,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_ARITHMETIC = Trait.KEEPS_ORDER | Trait.REDUCES | Trait.ELEMENTWISE | Trait.COMPARES | Trait.CASTS
_METHODS = models.having(_ARITHMETIC, TypeTag.TENSOR) | {"clone", "contiguous", "detach"}
_FUNCTIONS = models.having(_ARITHMETIC, "torch")
_FROM_ARRAYS = models.having(Trait.FROM_DATA | Trait.FROM_NUMBERS, "torch") | {"torch.from_numpy"}
_DEPTH = 6


def copy_there(read: HostRead, model: SemanticModel) -> ast.Call | None:
    """Return the call that copies an array to the device, if the function reads there only what it computes
    from it by arithmetic: `x = torch.from_numpy(x).to(device)`, then `(x * self.std).cpu().numpy()`.
    """
    if read.method not in ("numpy", "tolist") or not isinstance(read.tensor, (ast.Name, ast.BinOp)):
        return None
    return _copied(read.tensor, model, _DEPTH)[0]


def _copied(value: ast.expr, model: SemanticModel, depth: int) -> tuple[ast.Call | None, bool]:
    """Return the copy of an array from which a value is computed, and whether only arithmetic leads to it
    and to the other operands.
    """
    if depth <= 0:
        return None, False
    parts: list[ast.expr] = []
    match value:
        case ast.Constant() | ast.Attribute():
            return None, True
        case ast.Name():
            bound = model.dataflow.definitions(value)
            if len(bound) != 1 or bound[0].kind is not BindingKind.ASSIGN or bound[0].value is None:
                return None, False
            made = bound[0].value
            if bound[0].path:
                return None, not _runs_network(made, model)
            parts = [made]
        case ast.BinOp(left=left, right=right) if not isinstance(value.op, ast.MatMult):
            parts = [left, right]
        case ast.UnaryOp(operand=part) | ast.Subscript(value=part):
            parts = [part]
        case ast.Call() if _moves_array(value, model):
            return value, True
        case ast.Call(func=func, args=args):
            called = model.names.qualified(func)
            if called in _FUNCTIONS:
                parts = args
            elif called is None and isinstance(func, ast.Attribute) and func.attr in _METHODS:
                parts = [func.value]
            else:
                return None, False
        case _:
            return None, False
    found = [_copied(part, model, depth - 1) for part in parts]
    if not all(is_arithmetic for _, is_arithmetic in found):
        return None, False
    return next((copy for copy, _ in found if copy is not None), None), True


def _runs_network(value: ast.expr, model: SemanticModel) -> bool:
    return any(
        isinstance(node, ast.Call) and model.gradients.gives_gradient(node) for node in descendants(value)
    )


def _moves_array(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call copies a tensor to a device that is made of an array, in it or just before."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="cuda")):
            pass
        case ast.Call(func=ast.Attribute(value=source, attr="to")):
            targets = [word.value for word in call.keywords if word.arg in ("device", None)] or call.args[:1]
            named = [target for target in targets if model.types.device_of(target) is Device.HOST]
            if named or (call.args and not model.types.is_device(call.args[0])):
                return False
        case _:
            return False
    if isinstance(source, ast.Name):
        bound = model.dataflow.definitions(source)
        return any(
            each.kind is BindingKind.ASSIGN and each.value is not None and _is_of_array(each.value, model)
            for each in bound
        )
    return _is_of_array(source, model)


def _is_of_array(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is `torch.from_numpy(x)` or similar, on the host."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if model.names.qualified(value.func) in _FROM_ARRAYS:
            return not any(keyword.arg == "device" for keyword in value.keywords)
        value = value.func.value
    return False
