"""Types of the keyword arguments that a call unpacks from a dict: `tensor.to(**options)`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.models.value_type import Type, TypeTag


def unpacked_options(call: ast.Call, type_of: Callable[[ast.expr], Type]) -> dict[str, Type] | None:
    """Return the keyword arguments that `**` passes, by name; None if the keys of a dict are not known."""
    found: dict[str, Type] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            continue
        kind = type_of(keyword.value)
        if kind.tag is not TypeTag.DICT or not kind.keys or len(kind.keys) != len(kind.parts):
            return None
        found |= zip(kind.keys, kind.parts, strict=True)
    return found
