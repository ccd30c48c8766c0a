"""Canonical names of dtypes, and dtype promotion in arithmetic."""

from __future__ import annotations

import ast
import math

from rlint.models import element_types
from rlint.models.element_types import BITS, DEFAULT, FLOATS, OBJECT, WHOLE
from rlint.models.value_type import Type, TypeTag

_LARGEST_SINGLE = (2 - 2**-23) * 2.0**127
_OF_CONSTANTS: dict[type, str] = {bool: "bool", int: "int64", float: "float64"}


def library_dtype(qualified: str) -> str:
    """Return the dtype that a name of torch, numpy or Python denotes: `torch.long`, `numpy.single`,
    `float`.
    """
    module, _, name = qualified.rpartition(".")
    if module in ("numpy", "builtins") and name in (OBJECT, "object_"):
        return OBJECT
    if module == "torch":
        name = element_types.TORCH.get(name, name)
    elif module == "numpy":
        name = element_types.NUMPY.get(name, name)
    elif module == "builtins":
        name = element_types.PYTHON.get(name, "")
    else:
        return ""
    return name if name in BITS and name != DEFAULT else ""


def fits_single(number: float) -> bool:
    """Whether a number of at most some digits is exact in single precision."""
    return abs(number) <= _LARGEST_SINGLE and (math.frexp(number)[0] * 2**24).is_integer()


def named_dtype(text: str) -> str:
    """Return the dtype that a string names for numpy: "float32", "f4", "<f4", "int"."""
    text = text.lstrip("<=|")
    return element_types.CODES.get(text) or library_dtype(f"numpy.{text}")


def tensor_class_dtype(name: str) -> str:
    """Return the data type of `FloatTensor`, `LongTensor` and similar; of `Tensor`, the default."""
    return element_types.LEGACY.get(name, "")


def of_literal(data: ast.expr, floats: str) -> str:
    """Return the dtype of an array created from a literal number, or from nested lists of them; `floats` is
    that of floating-point numbers.
    """
    match data:
        case ast.Constant(value=bool() | int() | float() as value):
            found = _OF_CONSTANTS[type(value)]
            return floats if found == "float64" else found
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return of_literal(operand, floats)
        case ast.List(elts=[_, *_] as elements) | ast.Tuple(elts=[_, *_] as elements) if len(elements) <= 64:
            types = {of_literal(element, floats) for element in elements}
            return types.pop() if len(types) == 1 else ""
    return ""


def of_arithmetic(left: Type, right: Type, operator: ast.operator) -> str:
    """Return the dtype of the result of an operator on two arrays, or on two tensors, if it is certain."""
    if left.tag is not right.tag or left.dtype != right.dtype or left.dtype in ("", "bool"):
        return ""
    return _divided(left) if isinstance(operator, ast.Div) else left.dtype


def with_number(array: Type, number: Type, operator: ast.operator, *, literal: bool) -> str:
    """Return the dtype of the result of an operator on an array or tensor and a Python number. For numpy, an
    array scalar is not a Python number: only a `literal` certainly is one.
    """
    if number.optional or (array.tag is TypeTag.NDARRAY and not literal):
        return ""
    if array.dtype in FLOATS:
        return array.dtype
    if isinstance(operator, ast.Div) or number.tag is TypeTag.FLOAT:
        return _divided(array)
    # in older versions of numpy, promotion depends on the value
    return (
        array.dtype
        if array.dtype == "int64" or (array.tag is TypeTag.TENSOR and array.dtype in WHOLE)
        else ""
    )


def _divided(array: Type) -> str:
    if array.dtype in WHOLE:
        return DEFAULT if array.tag is TypeTag.TENSOR else "float64"
    return array.dtype if array.dtype in FLOATS else ""
