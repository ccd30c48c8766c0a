"""Tensors that are created in host memory and moved to a device at once."""

from __future__ import annotations

import ast

from rlint.rule import Binding, SemanticModel, TypeTag, frozen, legacy_tensors, torch_settings
from rlint.rules.transfers._shared.device_moves import DeviceMove
from rlint.rules.transfers._shared.made import FIXED, MadeTensor, Skipped, made_before, made_by, skipped_by
from rlint.rules.transfers._shared.tensor_constructors import DRAW, LEGACY, ROUNDED

_EXACT_IN_ANY_TYPE = frozenset({"torch.zeros", "torch.ones", "torch.eye", "torch.arange"})


@frozen
class Creation:
    """A tensor that is created in host memory and moved to a device at once."""

    move: DeviceMove
    made: MadeTensor
    binding: Binding | None
    """Return the assignment that created it, if that is another statement than the move."""
    is_conditional: bool
    """Whether it is moved only if there is a device: `if args.cuda:`."""
    writes: tuple[ast.stmt, ...] = ()
    """Statements that write to parts of it before the move: `mask[rows] = 0`."""
    again: tuple[ast.expr, ...] = ()
    """The other moves of the same tensor to the same device, and the places where it is returned."""


def creation_of(move: DeviceMove, model: SemanticModel) -> Creation | None:
    """Return the creation that ends in a move; None if other calls than constructors create the tensor, or if
    it is used in host memory as well.
    """
    skipped = skipped_by(move.call, model)
    binding, is_conditional = None, skipped is Skipped.BY_DEVICE
    writes: list[ast.stmt] = []
    again: list[ast.expr] = []
    if isinstance(move.source, ast.Name):
        before = made_before(
            move.source, move.call, model, may_be_conditional=True, writes=writes, again=again
        )
        if before is not None:
            binding, is_conditional = before
        elif is_conditional:
            return None
    made = made_by(binding.value if binding and binding.value else move.source, model)
    if made is None:
        return None
    if is_conditional and binding is None and not isinstance(move.source, ast.Name):
        is_conditional = False  # `zeros(3).cuda() if use_cuda else zeros(3)`
    return Creation(move, made, binding, is_conditional, (*writes,), (*again,))


def is_created_on_device(creation: Creation, model: SemanticModel) -> bool:
    """Whether the constructors may create their tensors on a device anyway, because the program has set a
    default. Those named after a host tensor type do not.
    """
    names = {model.names.qualified(call.func) for call in creation.made.calls}
    if not names <= LEGACY.keys() - {"torch.Tensor"} and model.program.sets(torch_settings.DEFAULT_DEVICE):
        return True
    return legacy_tensors.has_device_around(creation.move.call, model)


def copies_nothing(creation: Creation, model: SemanticModel) -> bool:
    """Whether the tensor only shares the memory of an array: a legacy constructor gets an array of its own
    dtype (measured with torch 2.13: `torch.FloatTensor(float32_array)` copies nothing).
    """
    calls = creation.made.calls
    return bool(calls) and all(_shares_memory(call, model) for call in calls)


def _shares_memory(call: ast.Call, model: SemanticModel) -> bool:
    name = model.names.qualified(call.func)
    if name is None or name not in LEGACY or len(call.args) != 1:
        return False
    array = call.args[0]
    while isinstance(array, ast.Subscript):
        array = array.value  # rows have the dtype of the array
    source = model.types.type_of(array)
    return source.tag is TypeTag.NDARRAY and source.dtype == legacy_tensors.class_dtype(name)


def difference(made: MadeTensor, model: SemanticModel) -> list[str]:
    """Return how a constructor's numbers may differ if they are created on the device, as clauses."""
    names = {model.names.qualified(call.func) or "" for call in made.calls}
    found = []
    if made.filled_by is not None and (filled := _method(made.filled_by))[1:-2] not in FIXED:
        found.append(f"`{filled}` draws from the device's random stream instead of the host's")
    elif made.drawn_by is not None:
        drawn = model.names.qualified(made.drawn_by.func)
        found.append(f"`{drawn}` draws from the device's random stream instead of the host's")
    elif names & DRAW:
        found.append(f"`{min(names & DRAW)}` draws from the device's random stream instead of the host's")
    elif names & ROUNDED:
        found.append(f"`{min(names & ROUNDED)}` may be rounded differently on a device")
    elif any(
        model.names.qualified(call.func) == "torch.arange" and not _counts(call, model) for call in made.calls
    ):
        found.append("`torch.arange` may round floating-point steps differently on a device")
    elif made.is_computed:
        found.append("arithmetic may be rounded differently on a device")
    elif made.casts and not names <= _EXACT_IN_ANY_TYPE:
        found.append(f"`{_method(made.casts[0])}` may convert differently on a device")
    if made.expanded_by is not None:
        found.append(f"the result of `{_method(made.expanded_by)}` is a view and must not be written to")
    return found


def _counts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an `arange` yields integers."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "dtype")]
    types = [model.types.type_of(keyword.value).of for keyword in call.keywords if keyword.arg == "dtype"]
    whole = all(name.removeprefix("torch.") in ("int64", "long", "int32", "int") for name in types)
    return whole and all(model.types.type_of(value).tag is TypeTag.INT for value in given)


def _method(call: ast.Call) -> str:
    return f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else ""
