"""Conversions of frames to floating point some time before they are copied to a device: in a helper, a
wrapper of the environment, or a method that prepares batches.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    Cause,
    Device,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    Use,
    UseKind,
    element_types,
    frozen,
    last_names,
    legacy_tensors,
    models,
)
from rlint.rules.transfers._shared.datasets import loads_sample
from rlint.rules.transfers.rl211_widen_before_transfer.widened import (
    CASTS,
    MAKERS,
    divides,
    move_of,
    names_observations,
    names_of,
    narrowness,
)

_CONVERTS = models.having(Trait.FROM_DATA, "numpy") | {"numpy.float32"}
_MAKERS = MAKERS | legacy_tensors.CLASSES
NAMES = last_names(*_CONVERTS, *_MAKERS) | {"astype", *CASTS}
"""The calls that `widened_earlier` recognises, by name."""
_COMPUTES = (
    Trait.RESHAPES | Trait.ELEMENTWISE | Trait.CASTS | Trait.CASTS_TO | Trait.CARRIES | Trait.FROM_DATA
)
_METHODS = models.having(_COMPUTES, TypeTag.TENSOR, TypeTag.NDARRAY) | {"pin_memory"}
_CARRYING = models.having(Trait.CARRIES | Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")
_LEAVES_BY = (Cause.CALLERS, Cause.OTHER_PLACE, Cause.OBJECT, Cause.DYNAMIC)
_FOLLOWED = frozenset({UseKind.OPERAND, UseKind.ELEMENT, UseKind.ITERATED, UseKind.ITEM})


@frozen
class EarlyWidening:
    """`data` is converted to `dtype` on the host. `move` copies the result to a device, or is None if that is
    in code that is not seen.
    """

    data: ast.expr
    kind: Type
    dtype: str
    move: ast.Call | None


def widened_earlier(call: ast.Call, model: SemanticModel) -> EarlyWidening | None:
    """Return the conversion of frames by a call whose result is copied to a device later."""
    cast = _cast_of(call, model)
    if cast is None:
        return None
    data, dtype = cast
    uses = model.dataflow.uses_across_functions(call, lambda use: _follows(use, model))
    if any(_names_a_place(use, call, model) for use in uses):
        return None  # the move itself is examined
    kind = narrowness(data, call, model, scaled=any(map(divides, uses)))
    if kind is None or not (kind.dtype or any(map(divides, uses))):
        return None
    for use in uses:
        if _moves(use, model):
            assert isinstance(use.at, ast.Call)
            return EarlyWidening(data, kind, dtype, use.at)
    if not any(use.cause in _LEAVES_BY for use in uses) or not _uses_devices(model):
        return None
    if kind.tag is TypeTag.TENSOR and kind.device is not Device.HOST:
        return None  # it may be on the device already
    if model.branches.why_off(call) or _is_class_off(call, model):
        return None
    observed = any(names_observations(name) for name in names_of(data, model))
    if not observed and not (any(map(divides, uses)) and loads_sample(model.function(call), model)):
        return None
    return EarlyWidening(data, kind, dtype, None)


def _is_class_off(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is part of a class that no code uses, or of which this file creates instances only under
    options that are off by default: `if scale: env = ScaledFrames(env)`.
    """
    cls = model.class_of(node)
    if cls is None:
        return False
    scope = model.names.scope(cls).lookup(cls.name)
    uses = model.names.reads(cls.name, scope) if scope is not None else []
    calls = [call for use in uses if isinstance(call := model.parent(use), ast.Call) and call.func is use]
    if calls:
        return all(model.branches.why_off(call) for call in calls)
    return bool(model.usage.is_unused(node))


def _names_a_place(use: Use, cast: ast.Call, model: SemanticModel) -> bool:
    """Whether a use in the statement of the conversion itself moves the value, or leaves it on the host."""
    match use.at:
        case ast.Call(func=ast.Attribute(attr="to" | "cuda" | "cpu")) if use.kind is UseKind.METHOD:
            return model.syntax.statement(use.at) is model.syntax.statement(cast)
    return False


def _uses_devices(model: SemanticModel) -> bool:
    """Whether code of the program moves tensors to devices."""
    program = model.program
    return program.is_imported_anywhere("torch") and (
        program.is_attribute_read("cuda") or program.is_attribute_read("to")
    )


def _cast_of(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, str] | None:
    """Return what a call converts to floating point, and the dtype."""
    match call:
        case ast.Call(func=ast.Attribute(value=data, attr="astype"), args=[named, *_]):
            dtype = model.analysis.types.dtype_of(named)
        case ast.Call(func=ast.Attribute(value=data, attr=method), args=[], keywords=[]) if method in CASTS:
            kind = model.types.type_of(data)
            if kind.tag is not TypeTag.TENSOR or kind.device not in (Device.HOST, Device.UNKNOWN):
                return None
            dtype = CASTS[method]
        case ast.Call(func=func, args=[data], keywords=words) if model.names.qualified(func) in _MAKERS:
            dtype = _dtype_of_maker(model.names.qualified(func) or "", words, model)
        case ast.Call(func=func, args=[data, *others]) if model.names.qualified(func) in _CONVERTS:
            if model.names.qualified(func) == "numpy.float32":
                return data, "float32"
            named_dtypes = [word.value for word in call.keywords if word.arg == "dtype"] + others[:1]
            dtype = model.analysis.types.dtype_of(named_dtypes[0]) if named_dtypes else ""
        case _:
            return None
    return (data, dtype) if dtype in element_types.FLOATS else None


def _dtype_of_maker(name: str, words: list[ast.keyword], model: SemanticModel) -> str:
    """Return the dtype to which a constructor converts its data on the host; "" if it does not."""
    if name in legacy_tensors.CLASSES:
        return legacy_tensors.class_dtype(name) if not words else ""
    return model.analysis.types.dtype_of(words[0].value) if [word.arg for word in words] == ["dtype"] else ""


def _follows(use: Use, model: SemanticModel) -> bool:
    """Whether the result of a use holds the same numbers in other form."""
    if use.kind in _FOLLOWED or _moves(use, model):
        return True
    match use.at:
        case ast.Call(func=ast.Attribute(attr=method)) if use.kind is UseKind.METHOD:
            return method in _METHODS
        case ast.Call(func=func) if use.kind is UseKind.ARGUMENT:
            called = model.names.qualified(func) or ""
            return called in _CARRYING or called.startswith(("numpy.", "torch."))
    return False


def _moves(use: Use, model: SemanticModel) -> bool:
    """Whether a use copies the value to a device."""
    call = use.at
    if not isinstance(call, ast.Call):
        return False
    if use.kind is UseKind.METHOD:
        return move_of(call, model) is not None
    if use.kind is not UseKind.ARGUMENT:
        return False
    if model.names.qualified(call.func) in MAKERS:
        devices = [word.value for word in call.keywords if word.arg == "device"]
        return any(model.types.device_of(device) is not Device.HOST for device in devices)
    copied: bool = model.effects.copies_to_device(call, use.node)
    return copied
