"""Results of numpy's random functions: one number, or an array if a size is passed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint import models
from rlint.models.parameters import PARAMETERS
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, with_choice

_SIZE_AT = {
    name.rpartition(".")[2]: parameters.index("size")
    for name, parameters in PARAMETERS.items()
    if name.startswith("numpy.random.") and "size" in parameters
}
"""Position of the size among the arguments, by the function's name."""
_AFTER_SIZE = 2
"""The size and the dtype come before `out`, the array to be filled."""
_BY_DIMENSIONS = frozenset({"rand", "randn"})
_WHOLE = models.names_having(Trait.WHOLE, "numpy.random", TypeTag.RANDOM_GENERATOR)
_NUMBERS = (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL)
_CHOSEN = Type(TypeTag.NDARRAY, fresh=True)


def drawn(call: ast.Call, name: str, type_of: Callable[[ast.expr], Type]) -> Type:
    """Return the type of the result of a numpy random function, or of the generator method of that name.

    UNKNOWN if that depends on values: on a size that may be None, on bounds that may be arrays. A size of
    unknown type is likely not None, so that the result is likely an array.
    """
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg in (None, "out") for keyword in call.keywords
    ):
        return UNKNOWN
    if name in _BY_DIMENSIONS:
        whole = all(type_of(argument).tag is TypeTag.INT for argument in call.args)
        if not call.args:
            return Type(TypeTag.FLOAT)
        return _array(name, len(call.args)) if whole and not call.keywords else UNKNOWN
    place = _SIZE_AT.get(name)
    if place is None:
        return UNKNOWN
    if len(call.args) > place + _AFTER_SIZE:
        return UNKNOWN  # the array that is filled is among the arguments
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    size = given.pop("size", call.args[place] if place < len(call.args) else None)
    dtype = given.pop("dtype", call.args[3] if name == "randint" and len(call.args) > 3 else None)
    if size is None or (isinstance(size, ast.Constant) and size.value is None):
        return _number(name, [*call.args[:place], *given.values()], dtype, type_of)
    kind = type_of(size)
    if kind.tag is TypeTag.UNKNOWN and not kind.optional:
        return with_choice(UNKNOWN, Choice(_of_size(call, name, None, dtype, type_of), is_read=True))
    if kind.optional or kind.tag not in (TypeTag.INT, TypeTag.TUPLE, TypeTag.LIST):
        return UNKNOWN
    rank = 1 if kind.tag is TypeTag.INT else len(kind.parts) or None
    return _of_size(call, name, rank, dtype, type_of)


def _of_size(
    call: ast.Call, name: str, rank: int | None, dtype: ast.expr | None, type_of: Callable[[ast.expr], Type]
) -> Type:
    """Return the type of the array that is drawn if a size is passed."""
    array = _array(name, rank)
    if name == "choice":
        numbers = type_of(call.args[0]) if call.args else UNKNOWN  # `choice(8, size=2)` picks indices
        is_index = numbers.tag is TypeTag.INT and not numbers.optional
        return Type(array.tag, fresh=True, dtype="int64", rank=array.rank) if is_index else _CHOSEN
    return Type(array.tag, fresh=True, rank=array.rank) if dtype is not None else array


def _array(name: str, rank: int | None) -> Type:
    return Type(TypeTag.NDARRAY, fresh=True, dtype="int64" if name in _WHOLE else "float64", rank=rank)


def _number(
    name: str, bounds: list[ast.expr], dtype: ast.expr | None, type_of: Callable[[ast.expr], Type]
) -> Type:
    """Return the type of one number, if all bounds are numbers."""
    if name == "choice" or dtype is not None or not all(type_of(one).tag in _NUMBERS for one in bounds):
        return UNKNOWN
    if name == "integers":  # generators return numpy scalars, the old functions Python numbers
        return Type(TypeTag.NUMPY_SCALAR, dtype="int64")
    return Type(TypeTag.INT if name in _WHOLE else TypeTag.FLOAT)
