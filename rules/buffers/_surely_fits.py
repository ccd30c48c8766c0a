"""Whether all concatenations of a growing array surely succeed, and one of all parts gives the same."""

from __future__ import annotations

import ast

from rlint.project.dtypes import BITS, library_dtype
from rlint.project.growth import Growth
from rlint.project.kind import Device, Kind, Tag
from rlint.project.site import Site
from rlint.syntax.scopes import Binding

REASON = "a part whose shape or type does not fit `{name}` raises an error only after the loop"
_OF_ONE_DIMENSION = frozenset(
    {"numpy.append", "numpy.concatenate", "numpy.hstack", "torch.cat", "torch.hstack"}
)
_NUMBERS = frozenset({Tag.FLOAT, Tag.INT, Tag.BOOL})
_SHORT_FLOATS = frozenset({"float16", "bfloat16"})
_OF_NUMBERS = "numbers"
"""Stands for the type of Python's numbers: bool, int64 or float64, as they come."""


def surely_fit(growth: Growth, starts: list[Binding], site: Site) -> bool:
    """Whether no part can be refused for its shape, type or device, and the type of the result does not
    depend on the order in which parts are joined.

    In one dimension (`np.append` flattens) every shape fits. The parts must be of one type, since the common
    type of three is not that of the first two with the third.
    """
    function = growth.join.function
    flat = function == "numpy.append" and growth.join.axis is None
    if not flat and (function not in _OF_ONE_DIMENSION or not _is_first(growth.join.axis)):
        return False
    tag = Tag.TENSOR if function.startswith("torch.") else Tag.NDARRAY
    kinds = [site.knowledge.kinds.binding_kind(start) for start in starts]
    if not kinds or not all(_is_known(kind, tag, rank=None if flat else 1) for kind in kinds):
        return False
    types = {_type_of(part, tag, site, flat=flat) for part in growth.new}
    if len(types) != 1 or None in types:
        return False
    if _OF_NUMBERS in types and any(kind.dtype.startswith("uint") for kind in kinds):
        return False  # with them, large numbers have another common type one by one than all at once
    if tag is Tag.TENSOR:
        devices = {kind.device for kind in (*kinds, *map(site.kind_of, growth.new))}
        short = _OF_NUMBERS in types and any(kind.dtype in _SHORT_FLOATS for kind in kinds)
        return devices == {Device.HOST} and not short
    return True


def _is_first(axis: ast.expr | None) -> bool:
    """The only axis of one dimension, as it is left out or written."""
    match axis:
        case None | ast.Constant(value=0) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False


def _is_known(kind: Kind, tag: Tag, *, rank: int | None) -> bool:
    numbers = kind.tag is tag and not kind.optional and kind.dtype in BITS
    return numbers and (rank is None or kind.rank == rank)


def _type_of(part: ast.expr, tag: Tag, site: Site, *, flat: bool) -> str | None:
    """The type of a part's numbers; None for what may be no numbers, or has not one dimension."""
    kind = site.kind_of(part)
    if _is_known(kind, tag, rank=None if flat else 1):
        return kind.dtype
    if tag is Tag.TENSOR:
        match part:
            case ast.Call(func=func, args=[data], keywords=[]) if site.qualified(func) == "torch.tensor":
                return _OF_NUMBERS if _are_numbers(data, site) else None
        return None
    if _are_numbers(part, site) or (flat and kind.tag in _NUMBERS and not kind.optional):
        return _OF_NUMBERS
    match part:
        case ast.Call(func=func, args=[_], keywords=[]) if flat:
            # `np.float32(reward)` makes numbers of that type, in as many dimensions as it is given
            name = site.qualified(func) or ""
            return library_dtype(name) or None if name.startswith("numpy.") else None
    return None


def _are_numbers(data: ast.expr, site: Site) -> bool:
    """Whether this is a list of numbers that is written out."""
    if not isinstance(data, (ast.List, ast.Tuple)) or not data.elts:
        return False
    kinds = map(site.kind_of, data.elts)
    return all(kind.tag in _NUMBERS and not kind.optional for kind in kinds)
