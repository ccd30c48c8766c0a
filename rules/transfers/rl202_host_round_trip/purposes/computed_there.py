"""Arrays that are copied to the device for a little arithmetic, and the result back to the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    Binding,
    BindingKind,
    Device,
    Driver,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
    regex,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_ARITHMETIC = Trait.KEEPS_ORDER | Trait.REDUCES | Trait.ELEMENTWISE | Trait.COMPARES | Trait.CASTS
_METHODS = models.having(_ARITHMETIC, TypeTag.TENSOR) | {"clone", "contiguous", "detach"}
_FUNCTIONS = models.having(_ARITHMETIC, "torch")
_FROM_ARRAYS = models.having(Trait.FROM_DATA | Trait.FROM_NUMBERS, "torch") | {"torch.from_numpy"}
_COLLECTIVE = regex(r"reduce|broadcast|gather|recv|scatter|sync")
"""Functions that change a tensor in all processes: `dist.all_reduce(total)`."""
_READS = (models.having(Trait.TO_HOST, TypeTag.TENSOR) - {"cpu"}) | {"bool", "float", "if", "int"}
_COMPUTED = (ast.BinOp, ast.Call, ast.Compare, ast.Name, ast.Subscript)
_DEPTH = 8


def copy_there(read: HostRead, model: SemanticModel) -> ast.Call | None:
    """Return the call that copies an array to the device, if the function reads there only what it computes
    from it by arithmetic: `x = torch.from_numpy(x).to(device)`, then `(x * self.std).cpu().numpy()`.
    """
    if read.method not in _READS or not isinstance(read.tensor, _COMPUTED):
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
            if len(bound) == 1 and bound[0].kind is BindingKind.PARAMETER:
                return _passed(bound[0], model, depth)
            if len(bound) != 1 or bound[0].kind is not BindingKind.ASSIGN or bound[0].value is None:
                return None, False
            made = bound[0].value
            if bound[0].path:
                return None, not _runs_network(made, model)
            if is_changed(value, model):
                return None, False
            parts = [made]
        case ast.BinOp(left=left, right=right) if not isinstance(value.op, ast.MatMult):
            parts = [left, right]
        case ast.UnaryOp(operand=part) | ast.Subscript(value=part):
            parts = [part]
        case ast.Compare(left=left, comparators=[right]):
            parts = [left, right]
        case ast.Call() if moves_array(value, model):
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


def _passed(parameter: Binding, model: SemanticModel, depth: int) -> tuple[ast.Call | None, bool]:
    """Return the copy from which the callers of a function compute what they pass for a parameter, if all
    are in this file and do so by arithmetic.
    """
    function = parameter.statement
    if not isinstance(function, FUNCTIONS) or model.frequency.is_called(function.body[0], other_file=True):
        return None, False
    found = [
        _copied(given, model, depth - 1) if given is not None else (None, False)
        for given in _arguments(function, parameter.name, model)
    ]
    if not found or not all(copy is not None for copy, _ in found):
        return None, False
    return found[0]


def _arguments(function: Function, name: str, model: SemanticModel) -> Iterator[ast.expr | None]:
    """Yield what the calls of a function in this file pass for a parameter; None if that is not known."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    uses: list[ast.Name | ast.Attribute] = []
    if model.class_of(function) is not None:
        uses += (use for use in model.names.attribute_uses(function.name) if model.names.is_self(use.value))
        names = names[1:]
    else:
        scope = model.names.scope(function).lookup(function.name)
        uses += model.names.reads(function.name, scope) if scope is not None else []
    for use in uses:
        call = model.parent(use)
        if isinstance(call, ast.Call) and call.func is use:
            given = {word.arg: word.value for word in call.keywords if word.arg is not None}
            given.update(zip(names, call.args, strict=False))
            yield None if any(isinstance(each, ast.Starred) for each in call.args) else given.get(name)
        else:
            yield None


def is_changed(name: ast.Name, model: SemanticModel) -> bool:
    """Whether other numbers are written into a variable's tensor: in place, or by other processes."""
    scope = model.names.scope(name).lookup(name.id)
    for use in model.names.uses(name.id, scope) if scope is not None else ():
        match model.parent(use):
            case ast.Subscript(ctx=ast.Store()) | ast.AugAssign():
                return True
            case ast.Attribute(attr=method) if method.endswith("_"):
                return True
            case ast.Call(func=func) if func is not use and _COLLECTIVE.search(last_name(func) or ""):
                return True
    return False


def _runs_network(value: ast.expr, model: SemanticModel) -> bool:
    return any(
        isinstance(node, ast.Call) and model.gradients.gives_gradient(node) for node in descendants(value)
    )


def moves_array(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call copies a tensor to a device that is made of an array, in it or just before."""
    match call:
        case ast.Call(func=func, args=[data, *_], keywords=keywords) if (
            model.names.qualified(func) in _FROM_ARRAYS
        ):
            devices = [word.value for word in keywords if word.arg == "device"]
            if not devices or model.types.device_of(devices[0]) is Device.HOST:
                return False
            if model.names.qualified(func) == "torch.tensor" and _is_of_environment(data, model):
                return True
            return model.types.type_of(data).tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN)
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


def _is_of_environment(data: ast.expr, model: SemanticModel) -> bool:
    """Whether data of unknown type is part of what `step` of an environment returned: `torch.tensor` would
    warn about a tensor, so the host has it.
    """
    if not isinstance(data, ast.Name) or model.types.type_of(data).tag is not TypeTag.UNKNOWN:
        return False
    bound = model.dataflow.definitions(data)
    return bool(bound) and all(
        each.path
        and isinstance(each.value, ast.Call)
        and model.analysis.loops.driver_of(each.value) is Driver.ENVIRONMENT_STEP
        for each in bound
    )


def _is_of_array(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is `torch.from_numpy(x)` or similar, on the host."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if model.names.qualified(value.func) in _FROM_ARRAYS:
            return not any(keyword.arg == "device" for keyword in value.keywords)
        value = value.func.value
    return False
