"""Arrays that share their memory with a variable or a data set, which only a tensor's creation reads."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, SemanticModel, Trait, TypeTag, models
from rlint.rules.transfers.rl208_copy_into_tensor.borrowed_memory import writes_part

_OF_ARRAYS = models.having(Trait.RESHAPES | Trait.SAME_VALUES, TypeTag.NDARRAY)
_FUNCTIONS = models.having(Trait.RESHAPES | Trait.FROM_DATA, "numpy")
_LOADS_SAMPLES = frozenset({"__getitem__", "__getitems__"})
_DEPTH = 5


def holder(array: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what holds the memory of an array, or what it is copied from: `state` for `state[None]`,
    `state.T` and `np.asarray(state)`.
    """
    for _ in range(_DEPTH):
        match array:
            case ast.Subscript(value=whole):
                array = whole
            case ast.Attribute(value=whole, attr="T"):
                array = whole
            case ast.Call(func=func, args=[whole, *_]) if model.names.qualified(func) in _FUNCTIONS:
                array = whole
            case ast.Call(func=ast.Attribute(value=whole, attr=method)) if method in _OF_ARRAYS:
                array = whole
            case _:
                return array
    return array


def is_loaded_sample(call: ast.Call, array: ast.expr, model: SemanticModel) -> bool:
    """Whether a data set returns a tensor of a part of its own array, which it never writes to."""
    function, cls = model.function(call), model.class_of(call)
    if not isinstance(function, FUNCTIONS) or function.name not in _LOADS_SAMPLES or cls is None:
        return False
    if not any((model.names.qualified(base) or "").endswith("Dataset") for base in cls.bases):
        return False
    match holder(array, model):
        case ast.Attribute(value=owner, attr=name) if array is not owner and model.names.is_self(owner):
            return not any(writes_part(use, model) for use in model.names.attribute_uses(name))
    return False
