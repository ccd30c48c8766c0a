"""The constructors of torch that create tensors in host memory."""

from __future__ import annotations

import ast

from rlint.rule import (
    Device,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    legacy_tensors,
    models,
    torch_settings,
)

FILL = models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS, "torch") | {"torch.scalar_tensor"}
ROUNDED = frozenset({"torch.linspace", "torch.logspace"})
DRAW = models.having(Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE, "torch") | {"torch.normal"}
_CONVERT = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray"})
DEFAULT_TYPE = "torch.float32"
LEGACY = {
    f"torch.{name}": DEFAULT_TYPE if name in ("Tensor", "FloatTensor") else f"torch.{dtype}"
    for name, dtype in element_types.LEGACY.items()
}
"""Constructors without `device=`, and their dtypes."""
_KEYWORDS = frozenset(
    "dtype size data fill_value names start end step steps base low high n m input row col".split()
)
NUMBERS = (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL)


def is_constructor(call: ast.Call, name: str, model: SemanticModel) -> bool:
    """Whether a call creates a tensor in host memory that could be created on the device as well."""
    for keyword in call.keywords:
        is_no = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if name == "torch.normal" and keyword.arg in ("mean", "std"):
            continue
        if keyword.arg is None and _passes_on(keyword.value, model):
            continue
        if keyword.arg not in _KEYWORDS and not (keyword.arg == "requires_grad" and is_no):
            return False  # it has a device, draws from a host generator, is pinned, is a leaf …
    if name in LEGACY:
        return True
    types = [model.types.type_of(argument) for argument in call.args[:1]]
    if name in _CONVERT:
        if not types and name != "torch.tensor":
            return False
        given = types[0].tag if types and not model.types.excludes_tensor(call.args[0]) else TypeTag.UNKNOWN
        # a tensor may be on the device already, and `as_tensor` keeps it there
        return given is not TypeTag.TENSOR and (name == "torch.tensor" or given is not TypeTag.UNKNOWN)
    if name.endswith("_like"):
        return [(kind.tag, kind.device) for kind in types] == [(TypeTag.TENSOR, Device.HOST)]
    if name == "torch.normal":
        if any(keyword.arg == "size" for keyword in call.keywords):
            return True  # mean and deviation are numbers
        return all(kind.tag in NUMBERS for kind in types) and len(call.args) + len(call.keywords) > 2
    return name in FILL | ROUNDED | DRAW or name == "torch.arange"


def _passes_on(unpacked: ast.expr, model: SemanticModel) -> bool:
    """Whether unpacked keywords are those of a lambda that moves what it creates: callers need name no device
    (`lambda *args, **kwargs: torch.tensor(*args, **kwargs).cuda()`).
    """
    around = next((part for part in model.ancestors(unpacked) if isinstance(part, ast.Lambda)), None)
    given = around.args.kwarg if around is not None else None
    return given is not None and isinstance(unpacked, ast.Name) and unpacked.id == given.arg


def draws_on_host(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call draws a tensor in host memory that could be drawn on the device as well."""
    name = model.names.qualified(call.func)
    if name not in DRAW or not is_constructor(call, name, model):
        return False
    return not model.program.sets(torch_settings.DEFAULT_DEVICE) and not legacy_tensors.has_device_around(
        call, model
    )


def is_data(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a constructor copies existing data, rather than generating numbers."""
    name = model.names.qualified(call.func)
    return name in _CONVERT or (name in LEGACY and not gives_size(call, model))


def gives_size(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a legacy constructor is called with sizes (`torch.FloatTensor(4, 2)`)."""
    return len(call.args) != 1 or model.types.type_of(call.args[0]).tag is TypeTag.INT
