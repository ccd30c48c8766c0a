"""Create tensors on the device: pass the device to their constructors."""

from __future__ import annotations

import ast

from rlint.rule import Applicability, Device, Edit, Fix, SemanticModel, TypeTag, descendants, legacy_tensors
from rlint.rules.transfers._shared.creations import Creation, difference
from rlint.rules.transfers._shared.device_moves import DeviceMove
from rlint.rules.transfers._shared.evaluated import is_unchanged_between
from rlint.rules.transfers._shared.made import MadeTensor, type_given
from rlint.rules.transfers._shared.tensor_constructors import LEGACY, gives_size, is_data
from rlint.rules.transfers.rl205_create_then_move.between import UNAVAILABLE, doubts_between

_DEVICE_AROUND = "this must not run inside `with torch.device(...)`, which sets the default device"
_DEFAULT_TYPE = ("set_default_dtype", "set_default_tensor_type")
_TAKES_ANY_TYPE = frozenset({"torch.zeros", "torch.ones", "torch.eye"})


def build_fix(creation: Creation, from_data: list[ast.Call], model: SemanticModel) -> Fix | None:
    """Pass the device to the constructors, and remove the move."""
    move, made = creation.move, creation.made
    assignment = creation.binding.statement if creation.binding is not None else None
    if creation.is_conditional:
        return None
    device = device_text(move, model)
    if device is None or not is_silent(move, model) or not is_early(move, made, assignment, model):
        return None
    data = bool(from_data)
    doubt = doubt_about_device(move, device, model)
    reasons = [doubt] if doubt else []
    if legacy_tensors.may_have_device_around(move.call, model):
        reasons.append(_DEVICE_AROUND)
    reasons += doubts_between(creation, model)
    acting = [part for part in _evaluated_later(move, made) if not model.effects.effect_of(part).quiet]
    reasons += [UNAVAILABLE.format(model.source.text(part)) for part in acting[:1]]
    keywords, converted = {"device": device}, made.casts if data else ()
    if converted or move.dtype is not None:
        dtype = dtype_text(move, made, converted, model)
        if dtype is None:
            return None
        keywords = {"dtype": dtype, **keywords}
    if not data or made.is_computed:
        reasons += difference(made, model)
    elif "dtype" in keywords:
        reasons.append(
            "the data is converted once instead of twice: large numbers may be rounded differently"
        )
    edits = [constructed(call, keywords, model) for call in made.calls]
    edits += [model.edit.replace_method(call, "") for call in converted]
    edits.append(moved(move, assignment, model))
    kept = [edit for edit in edits if edit is not None]
    if len(kept) < len(edits):
        return None
    reasons += [
        legacy_doubt(call, model) for call in made.calls if model.names.qualified(call.func) in LEGACY
    ]
    reason = ", and ".join(reasons)
    reason = f"{reason[:1].upper()}{reason[1:]}"
    return Fix(
        "Create it on the device",
        Applicability.UNSAFE if reason else Applicability.SAFE,
        (*kept,),
        reason or None,
    )


def device_text(move: DeviceMove, model: SemanticModel) -> str | None:
    """Return the source of the device as an argument of a constructor."""
    if not isinstance(move.call.func, ast.Attribute) or move.call.func.attr not in ("to", "cuda"):
        return None
    if move.like is not None or move.options is not None:
        return None  # it gives the dtype, too
    if move.device is None:
        return '"cuda"'
    if isinstance(move.device, ast.Constant) and isinstance(move.device.value, int):
        return f'"cuda:{move.device.value}"'
    kind = model.types.type_of(move.device)
    may_be_none = kind.optional or kind.tag not in (TypeTag.INT, TypeTag.DEVICE, TypeTag.STR)
    if (is_cuda(move) and may_be_none) or not model.edit.is_relocatable(move.device):
        return None  # `.cuda(None)` is a device, too
    return model.source.text(move.device)


def doubt_about_device(move: DeviceMove, device: str, model: SemanticModel) -> str | None:
    """Return the condition on the target; None if the constructor surely accepts it, too."""
    if move.device is None or isinstance(move.device, ast.Constant):
        return None
    if is_cuda(move):
        fits = (
            model.types.type_of(move.device).tag is TypeTag.INT
            or model.types.device_of(move.device) is Device.CUDA
        )
        return None if fits else f"`{device}` must be a CUDA device, since `.cuda()` refuses others"
    if model.types.is_surely_device(move.device):
        return None
    return f"`{device}` must be a device, not a dtype or a tensor"


def is_cuda(move: DeviceMove) -> bool:
    """Whether it is `.cuda()`, not `.to()`."""
    return isinstance(move.call.func, ast.Attribute) and move.call.func.attr == "cuda"


def is_silent(move: DeviceMove, model: SemanticModel) -> bool:
    """Whether the arguments that are removed with the move have no effect."""
    dropped = [keyword.value for keyword in move.call.keywords if keyword.arg not in ("device", "dtype")]
    return all(model.effects.effect_of(argument).quiet for argument in (*dropped, *move.call.args[2:]))


def is_early(move: DeviceMove, made: MadeTensor, assignment: ast.stmt | None, model: SemanticModel) -> bool:
    """Whether the device is the same where the tensor is created."""
    if move.device is None:
        return True
    if assignment is not None or made.is_named:
        return model.dataflow.unchanged_between(move.device, made.calls[0], move.call)
    later = _evaluated_later(move, made)
    same: bool = is_unchanged_between(move.device, later, made.calls[0], move.device, model)
    return same


def _evaluated_later(move: DeviceMove, made: MadeTensor) -> list[ast.expr]:
    """Return the arguments that are evaluated between the first constructor and the move, in one
    expression.
    """
    return [part for call in _passed(move, made) for part in (*call.args, *map(_value, call.keywords))]


def _passed(move: DeviceMove, made: MadeTensor) -> list[ast.Call]:
    """Return the calls whose arguments are evaluated between the first constructor and the move."""
    first = set(descendants(made.calls[0]))
    return [node for node in descendants(move.source) if isinstance(node, ast.Call) and node not in first]


def _value(keyword: ast.keyword) -> ast.expr:
    return keyword.value


def dtype_text(
    move: DeviceMove, made: MadeTensor, casts: tuple[ast.Call, ...], model: SemanticModel
) -> str | None:
    """Return the only dtype that the tensor is converted to after its creation, as an argument of its
    constructor.
    """
    names = {model.names.qualified(call.func) or "" for call in made.calls}
    has_type = any(keyword.arg == "dtype" for call in made.calls for keyword in call.keywords)
    if (
        has_type
        or names & LEGACY.keys()
        or made.is_computed
        or len(made.casts) + (move.dtype is not None) > 1
    ):
        return None
    if move.dtype is None:
        given: str | None = type_given(casts[0], model)
        return given
    known = model.types.type_of(move.dtype).tag is TypeTag.DTYPE and model.edit.is_relocatable(move.dtype)
    fits = names <= _TAKES_ANY_TYPE or all(is_data(call, model) for call in made.calls)
    return model.source.text(move.dtype) if known and fits else None


def constructed(call: ast.Call, keywords: dict[str, str], model: SemanticModel) -> Edit | None:
    """Return the constructor with more keywords; a legacy one becomes `torch.as_tensor`."""
    dtype = LEGACY.get(model.names.qualified(call.func) or "")
    if dtype is None:
        return model.edit.rewrite_call(call, keywords=keywords)
    maker, dtype = model.names.spelled("torch.as_tensor", call), model.names.spelled(dtype, call)
    plain = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    if maker is None or dtype is None or not plain or gives_size(call, model):
        return None
    if model.names.qualified(call.func) == "torch.Tensor" and any(
        map(model.program.is_attribute_read, _DEFAULT_TYPE)
    ):
        return None
    return model.edit.rewrite_call(call, function=maker, keywords={"dtype": dtype, **keywords})


def legacy_doubt(call: ast.Call, model: SemanticModel) -> str:
    """Return the condition on a legacy constructor."""
    given, name = model.source.text(call.args[0]), model.source.text(call.func)
    if model.types.type_of(call.args[0]) or "\n" in given:
        return f"`torch.as_tensor` also takes data that `{name}` refuses"
    return f"`{given}` must be data, not a number, which `{name}` interprets as a size"


def moved(move: DeviceMove, assignment: ast.stmt | None, model: SemanticModel) -> Edit | None:
    """Remove the move, and its statement if that would have no effect any more."""
    statement = model.syntax.statement(move.call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=value) if value is move.call and assignment:
            if isinstance(move.source, ast.Name) and move.source.id == target:
                return model.edit.delete_statement(statement)
    return model.edit.replace_method(move.call, "")
