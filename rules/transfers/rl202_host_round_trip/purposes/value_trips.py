"""Round trips with computation in between: what a program computes on the host from a tensor that it read,
and then copies to the device.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    Cause,
    Device,
    Driver,
    SemanticModel,
    Trait,
    TypeTag,
    Use,
    UseKind,
    frozen,
    last_name,
    models,
    regex,
    target_of_move,
    unpacked_options,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.round_trips import round_trip
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import is_placed_on_device, where

_COMPUTES = (
    Trait.RESHAPES
    | Trait.ELEMENTWISE
    | Trait.REDUCES
    | Trait.COMPARES
    | Trait.CASTS
    | Trait.CASTS_TO
    | Trait.CARRIES
    | Trait.FROM_DATA
    | Trait.JOINS
    | Trait.LIMITS
)
_METHODS = (
    models.having(_COMPUTES | Trait.TO_HOST, TypeTag.TENSOR, TypeTag.NDARRAY)
    | models.giving(TypeTag.TENSOR, TypeTag.TENSOR)
    | models.giving(TypeTag.NDARRAY, TypeTag.NDARRAY)
) - models.having(Trait.FILLS, TypeTag.TENSOR)
_COPIES = frozenset({"numpy", "cpu"})
_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
_WITHOUT_RESULT = frozenset({"print", "log", "if", "slice", "index", "each"})
_PARTS = frozenset({"T", "data"})
_NOT_COMPUTED = ("numpy.random.seed", "numpy.save", "numpy.testing.", "torch.save", "torch.distributed.")
_FILLS = models.having(Trait.FILLS | Trait.FILLS_LIKE | Trait.MEASURES, "numpy", "torch")
_OF_BUILTINS = models.having(
    Trait.CARRIES | Trait.SAME_ITEMS | Trait.PAIRS_ITEMS | Trait.TO_NUMBER | Trait.ELEMENTWISE | Trait.SUMS,
    "builtins",
)
_FROM_DATA = models.having(Trait.FROM_DATA, "torch")
_LEGACY = "torch.cuda."
_OFF_DEVICE = (None, Device.HOST, Device.OTHER)
_TRANSFORMS = regex(r"_*(un|de)?_?(normali[sz]e|scale|squash|standardi[sz]e|whiten|clip)(_|$)")
_UNSEEN = (Cause.CALLERS, Cause.OTHER_PLACE)
_STORES = "the numbers are stored, and copied back less often than they are read"


@frozen
class ValueTrip:
    """`back` copies to a device what is computed from a read, in the function `called` if that is not in this
    file. `minor` says why it costs little.
    """

    back: ast.AST
    minor: str | None = None


def value_trip(read: HostRead, model: SemanticModel) -> ValueTrip | None:
    """Return the round trip that a read begins; None if the environment, or the program on the host, needs
    what is read, too.
    """
    if read.method in _WITHOUT_RESULT:
        return None
    if read.method not in _COPIES and not is_placed_on_device(read.tensor, model):
        return None
    uses = _uses(read.node, model)
    if any(_is_needed(use, model) or _is_plain_trip(use, model) for use in uses):
        return None
    for use in uses:
        if use.kind is UseKind.INDEX and read.method not in ("numpy", "tolist"):
            continue  # a number as an index copies nothing
        if _copies_back(use, model):
            return ValueTrip(use.at, _why_small(read, use, model))
    return None


def _is_plain_trip(use: Use, model: SemanticModel) -> bool:
    """Whether a use ends a round trip without computation, which is reported there."""
    return isinstance(use.at, ast.Call) and round_trip(use.at, model) is not None


def _uses(value: ast.expr, model: SemanticModel, depth: int = 2) -> list[Use]:
    """Return the uses of a value, and of what is computed from it; also of an array that it indexes to be
    filled (`rows[range(n), actions] = 1`), and of a list that numbers computed from it are appended to.
    """
    found = model.dataflow.uses_across_functions(value, lambda use: _follows(use, model))
    filled = [_filled_array(use, model) for use in found if use.kind is UseKind.INDEX] if depth else []
    if depth:
        appended = dict.fromkeys(_list_appended_to(use, value, model) for use in found)
        filled += appended
    for array in filled:
        if array is not None:
            found = [*found, *_uses(array, model, depth - 1)]
    return found


def _filled_array(use: Use, model: SemanticModel) -> ast.expr | None:
    """Return the new array in which a value is the index of a store."""
    target: ast.AST | None = use.at
    while target is not None and not isinstance(target, (ast.Subscript, ast.stmt)):
        target = model.parent(target)
    match target:
        case ast.Subscript(value=ast.Name() as array, ctx=ast.Store()):
            bound = model.dataflow.definitions(array)
            return bound[0].value if len(bound) == 1 and not bound[0].path else None
    return None


def _list_appended_to(use: Use, value: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the list that a value is appended to, if it is created as often as the value is read: the lists
    of a rollout outlive the steps that read, and go back once for all.
    """
    match use.at:
        case ast.Call(func=ast.Attribute(value=ast.Name() as held, attr="append")) if (
            use.kind is UseKind.ARGUMENT
        ):
            bound = model.dataflow.definitions(held)
            made = bound[0].value if len(bound) == 1 and not bound[0].path else None
            if not isinstance(made, ast.List) or model.function(made) is not model.function(value):
                return None
            is_as_often = [*model.frequency.loops(made)] == [*model.frequency.loops(value)]
            return made if is_as_often else None
    return None


def _follows(use: Use, model: SemanticModel) -> bool:
    """Whether the result of a use is computed from the value by operations that a device has, too."""
    if _copies_back(use, model):
        return False
    match use.kind:
        case UseKind.OPERAND | UseKind.ELEMENT | UseKind.ITERATED:
            return True
        case UseKind.COMPARED:
            return isinstance(use.at, ast.Compare) and not _is_test(use.at, model)
        case UseKind.ITEM:
            return isinstance(use.at, ast.Subscript) and isinstance(use.at.ctx, ast.Load)
        case UseKind.INDEX:
            return isinstance(use.at, ast.Subscript) and isinstance(use.at.ctx, ast.Load)
        case UseKind.ATTRIBUTE:
            return isinstance(use.at, ast.Attribute) and use.at.attr in _PARTS
        case UseKind.METHOD:
            return _is_method(use.at)
        case UseKind.ARGUMENT:
            return isinstance(use.at, ast.Call) and _computes(use.at, model)
    return False


def _is_test(compared: ast.AST, model: SemanticModel) -> bool:
    """Whether a comparison decides a branch."""
    return isinstance(model.parent(compared), (ast.If, ast.While, ast.Assert, ast.IfExp, ast.BoolOp))


def _is_method(call: ast.AST) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _METHODS
    return False


def _computes(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function of numpy, torch or Python computes its result from its arguments."""
    called = model.names.qualified(call.func)
    if called is None:
        name = last_name(call.func) or ""
        return bool(call.args) and (bool(_TRANSFORMS.match(name)) or _makes_tensor(call, model))
    if called in _OF_BUILTINS:
        return True
    if called in _FILLS or called.startswith(_NOT_COMPUTED):
        return False
    return called.startswith(("numpy.", "torch."))


def _makes_tensor(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function of the project creates a host tensor from its argument."""
    targets = model.types.call_targets(call)
    return bool(targets) and all(target.makes_tensor_of for target in targets)


def _is_needed(use: Use, model: SemanticModel) -> bool:
    """Whether an environment, or code that is not seen, gets the value, or the host decides by it: in a
    condition, as a number of iterations, or as the index of a list or dict.
    """
    if use.cause in _UNSEEN or use.kind is UseKind.TESTED:
        return True
    if use.kind is UseKind.COMPARED:
        return _is_test(use.at, model)
    if use.kind is UseKind.INDEX and isinstance(use.at, ast.Subscript):
        indexed = use.at.value
        return model.types.type_of(indexed).tag not in _ARRAYS and not _is_on_device(indexed, model)
    if use.kind is not UseKind.ARGUMENT or not isinstance(use.at, ast.Call):
        return False
    if model.names.qualified(use.at.func) == "builtins.range":
        return True
    return model.analysis.loops.driver_of(use.at) is Driver.ENVIRONMENT_STEP


def _copies_back(use: Use, model: SemanticModel) -> bool:
    """Whether a use copies the value to a device, also as the index of a tensor there."""
    if use.kind is UseKind.INDEX and isinstance(use.at, ast.Subscript):
        return isinstance(use.at.ctx, ast.Load) and _is_on_device(use.at.value, model)
    call = use.at
    if not isinstance(call, ast.Call):
        return False
    if use.kind is UseKind.METHOD:
        return _moves(call, model)
    if use.kind is not UseKind.ARGUMENT:
        return False
    called = model.names.qualified(call.func) or ""
    if called.startswith(_LEGACY) and called.endswith("Tensor"):
        return True
    if called in _FROM_DATA:
        named = [word.value for word in call.keywords if word.arg == "device"]
        return bool(named) and _is_open(named[0], model)
    if called.startswith(("torch.", "numpy.", "builtins.")):
        return False
    copied: bool = model.effects.copies_to_device(call, use.node)
    return copied


def _moves(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method call moves a tensor to a device: `x.cuda()`, `x.to(device)`, `x.to(**options)`."""
    match call.func:
        case ast.Attribute(attr="cuda"):
            return True
        case ast.Attribute(attr="to"):
            target = target_of_move(call)
            if target is not None:
                return model.types.is_device(target) and _is_open(target, model)
            options = unpacked_options(call, model.types.type_of) or {}
            return "device" in options and model.types.device_of(options["device"]) is not Device.HOST
        case ast.Attribute(attr="type_as"):
            return any(where(argument, model) not in _OFF_DEVICE for argument in call.args)
    return False


def _is_on_device(tensor: ast.expr, model: SemanticModel) -> bool:
    return where(tensor, model) not in _OFF_DEVICE and is_placed_on_device(tensor, model)


def _is_open(device: ast.expr, model: SemanticModel) -> bool:
    """Whether a device is not known to be the host, nor that of a tensor of which no code shows where it
    is.
    """
    if model.types.device_of(device) is Device.HOST:
        return False
    match device:
        case ast.Attribute(value=ast.Name() as owner, attr="device") if not model.names.is_self(owner):
            is_tensor = model.types.type_of(owner).tag in (TypeTag.TENSOR, TypeTag.UNKNOWN)
            return not is_tensor or is_placed_on_device(owner, model)
    return True


def _why_small(read: HostRead, use: Use, model: SemanticModel) -> str | None:
    """Return why a round trip costs little: what is read in each step goes back once per rollout."""
    inner, outer = model.frequency.loops(read.node), model.frequency.loops(use.at)
    if model.function(read.node) is model.function(use.at):
        return None if outer[: len(inner)] == inner or set(inner) <= set(outer) else _STORES
    return None
