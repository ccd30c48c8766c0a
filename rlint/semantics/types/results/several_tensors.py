"""Functions that return one tensor or several, as their keywords say: `mask.nonzero(as_tuple=False)`."""

from __future__ import annotations

import ast

from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.syntax.queries import is_constant

SEVERAL = frozenset({"nonzero", "unique", "unique_consecutive"})
_FURTHER = ("return_inverse", "return_counts")


def several_tensors(node: ast.Call, name: str, tensor: Type) -> Type:
    """Return the type of a call of such a function or method on a tensor; UNKNOWN if its keywords do not say
    what it returns.
    """
    if tensor.tag is not TypeTag.TENSOR or tensor.optional:
        return UNKNOWN
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    is_method = isinstance(node.func, ast.Attribute) and "." not in name
    if None in given or len(node.args) > (0 if is_method else 1):
        return UNKNOWN
    indices = Type(TypeTag.TENSOR, device=tensor.device, dtype="int64", fresh=True)
    if name.endswith("nonzero"):
        flag = given.get("as_tuple")
        if flag is None or is_constant(flag, value=False):
            return indices
        is_tuple = is_constant(flag, value=True)
        return Type(TypeTag.TUPLE, item=indices, fresh=True) if is_tuple else UNKNOWN
    flags = [given[each] for each in _FURTHER if each in given]
    if not all(is_constant(flag, value=True) or is_constant(flag, value=False) for flag in flags):
        return UNKNOWN
    values = Type(TypeTag.TENSOR, device=tensor.device, dtype=tensor.dtype, fresh=True)
    more = sum(is_constant(flag, value=True) for flag in flags)
    if not more:
        return values
    return Type(TypeTag.TUPLE, item=values.joined(indices), fresh=True, parts=(values, *[indices] * more))
