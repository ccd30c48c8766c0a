"""Whether all concatenations of a growing array surely succeed, and one concatenation of all parts gives the
same result.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    ArrayGrowth,
    Binding,
    BindingKind,
    Device,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    dtypes,
    element_types,
    models,
)

REASON = "a part whose shape or dtype does not match `{name}` raises an error only after the loop"
_OF_ONE_DIMENSION = models.having(Trait.JOINS_FLAT, "torch", "numpy")
_FLOATS = frozenset({TypeTag.FLOAT, TypeTag.BOOL})
_LIBRARIES = ("builtins.", "math.", "numpy.", "time.")
_LIKE_ARGUMENTS = ("builtins.", "random.")
"""Their functions may return what their arguments are: `abs(reward)`, `random.uniform(low, high)`."""
_TAKES_INTEGERS = ("builtins.round", "random.")
"""Their result is a float whether they are given floats or integers."""
_OF_FLOATS = "floats"
"""Represents the type of Python's floats and booleans. For integers, the dtype depends on their size."""
_DEPTH = 4


def surely_fit(growth: ArrayGrowth, starts: list[Binding], model: SemanticModel) -> bool:
    """Whether no part can be refused for its shape, dtype or device, and the dtype of the result does not
    depend on the order of concatenation.

    In one dimension (`np.append` flattens) every shape fits. The parts must have one dtype, since promoting
    three at once may differ from promoting two and then the third.
    """
    function = growth.join.function
    flat = function == "numpy.append" and growth.join.axis is None
    if not flat and (function not in _OF_ONE_DIMENSION or not _is_first(growth.join.axis)):
        return False
    tag = TypeTag.TENSOR if function.startswith("torch.") else TypeTag.NDARRAY
    types = [model.analysis.types.binding_kind(start) for start in starts]
    if not types or not all(_is_known(kind, tag, rank=None if flat else 1) for kind in types):
        return False
    found = {_type_of(part, tag, model, flat=flat) for part in growth.new}
    if len(found) != 1 or None in found:
        return False
    if tag is TypeTag.TENSOR:
        return {kind.device for kind in (*types, *map(model.types.type_of, growth.new))} == {Device.HOST}
    return True


def _is_first(axis: ast.expr | None) -> bool:
    """Whether the axis is the only one of a one-dimensional array, explicitly or by default."""
    match axis:
        case None | ast.Constant(value=0) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False


def _is_known(kind: Type, tag: TypeTag, *, rank: int | None) -> bool:
    numbers = kind.tag is tag and not kind.optional and kind.dtype in element_types.BITS
    return numbers and (rank is None or kind.rank == rank)


def _type_of(part: ast.expr, tag: TypeTag, model: SemanticModel, *, flat: bool) -> str | None:
    """Return the dtype of a part; None if it may not be numeric, or has not one dimension."""
    kind = model.types.type_of(part)
    if _is_known(kind, tag, rank=None if flat else 1):
        return kind.dtype
    if tag is TypeTag.TENSOR:
        match part:
            case ast.Call(func=func, args=[data], keywords=[]) if (
                model.names.qualified(func) == "torch.tensor"
            ):
                return _OF_FLOATS if _are_floats(data, model, _DEPTH) else None
        return None
    if _are_floats(part, model, _DEPTH) or (flat and _is_float(part, model, _DEPTH)):
        return _OF_FLOATS
    match part:
        case ast.Call(func=func, args=[_], keywords=[]) if flat:
            # `np.float32(reward)` returns numbers of that dtype, in as many dimensions as its argument
            name = model.names.qualified(func) or ""
            return dtypes.library_dtype(name) or None if name.startswith("numpy.") else None
    return None


def _are_floats(data: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is a display of floats and booleans."""
    if not isinstance(data, (ast.List, ast.Tuple)) or not data.elts:
        return False
    return all(_is_float(each, model, depth) for each in data.elts)


def _is_float(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is a float or a boolean by its computation; an annotation does not exclude integers."""
    if depth <= 0:
        return False
    match value:
        case ast.Constant(value=float() | bool()):
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return model.types.type_of(operand).tag is TypeTag.FLOAT and _is_float(operand, model, depth - 1)
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call() if not any(isinstance(each, ast.Starred) for each in value.args):
            return _is_float_by_call(value, model, depth - 1)
        case ast.Name():
            bindings = model.dataflow.definitions(value)
            plain = bool(bindings) and all(
                each.kind is BindingKind.ASSIGN and not each.path for each in bindings
            )
            values = [each.value for each in bindings]
            return plain and all(each is not None and _is_float(each, model, depth - 1) for each in values)
    return False


def _is_float_by_call(call: ast.Call, model: SemanticModel, depth: int) -> bool:
    """Whether a library function returns a float or a boolean: for any arguments, or since all of them are
    such numbers, which their annotations do not show.
    """
    kind = model.types.type_of(call)
    if kind.tag not in _FLOATS or kind.optional:
        return False
    name = model.names.qualified(call.func) or ""
    known = models.callable_fact(name)
    if name.startswith(_LIBRARIES) and known is not None and known.result.tag in _FLOATS:
        return True
    if not name.startswith(_LIKE_ARGUMENTS) or call.keywords:
        return False
    return all(
        _is_float(each, model, depth)
        or _are_floats(each, model, depth)
        or (name.startswith(_TAKES_INTEGERS) and isinstance(each, ast.Constant))
        for each in call.args
    )
