"""Copies of whole lists and arrays of which the program only needs a part, or the length."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, Use, UseKind, frozen, models

_SEQUENCES = frozenset({TypeTag.DEQUE, TypeTag.LIST, TypeTag.TUPLE})
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_LISTS = frozenset({"builtins.list", "builtins.tuple"})
_CONVERTS = models.having(Trait.LEGACY, "torch") | {"numpy.array", "numpy.copy", "torch.tensor"}
"""These always copy, `numpy.asarray` and the like only if they must."""
_OF_SHAPE = frozenset({"ndim", "shape", "size"})


@frozen
class MeasuredCopy:
    """What a call copies only to read its length, or its shape."""

    copied: ast.expr
    of_length: bool


def is_copied_for_part(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call copies a whole sequence only to take items from it: `list(queue)[first:last]`."""
    match call:
        case ast.Call(args=[ast.Name() | ast.Attribute() as copied], keywords=[]):
            if model.names.qualified(call.func) not in _LISTS:
                return False
            taken = model.parent(call)
            is_read = isinstance(taken, ast.Subscript) and taken.value is call
            return is_read and model.types.type_of(copied).tag in _SEQUENCES
    return False


def measured_copy(call: ast.Call, model: SemanticModel) -> MeasuredCopy | None:
    """Return what a call copies or converts as a whole, if only the length or shape of the result is read:
    `len(np.array(states))`.
    """
    match call.args:
        case [(ast.Name() | ast.Attribute() | ast.Subscript()) as copied]:
            called = model.names.qualified(call.func)
        case _:
            return None
    if called not in _LISTS and called not in _CONVERTS:
        return None
    tag = model.types.type_of(copied).tag
    is_unknown = tag is TypeTag.UNKNOWN and called in _CONVERTS
    uses = model.dataflow.uses(call) if is_unknown or tag in _SEQUENCES | _ARRAYS else []
    if not uses:
        return None
    if all(_is_length(use, model) for use in uses):
        return MeasuredCopy(copied, of_length=True)
    if tag in _ARRAYS and all(_is_length(use, model) or _is_shape(use) for use in uses):
        return MeasuredCopy(copied, of_length=False)
    return None


def _is_length(use: Use, model: SemanticModel) -> bool:
    """Whether a use is `len(a)` or `a.shape[0]`."""
    if use.kind is UseKind.ARGUMENT:
        return isinstance(use.at, ast.Call) and model.names.qualified(use.at.func) == "builtins.len"
    match model.parent(use.at):
        case ast.Subscript(slice=ast.Constant(value=0)):
            return _is_shape(use) and isinstance(use.at, ast.Attribute) and use.at.attr == "shape"
    return False


def _is_shape(use: Use) -> bool:
    return use.kind is UseKind.ATTRIBUTE and isinstance(use.at, ast.Attribute) and use.at.attr in _OF_SHAPE
