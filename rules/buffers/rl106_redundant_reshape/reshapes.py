"""Calls that change the shape of a tensor or an array, but no values."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, arguments_by_name, frozen, integers, models, parameters

ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
KEEP_ORDER = models.having(Trait.KEEPS_ORDER, TypeTag.TENSOR, TypeTag.NDARRAY) - {
    "unflatten",
    "view_as",
    "reshape_as",
}
"""Calls that keep all values in their order, for any shape."""
SWAPS = models.having(Trait.PERMUTES, TypeTag.TENSOR, TypeTag.NDARRAY) - {"movedim", "moveaxis"} | {"T", "mT"}
PROPERTIES = frozenset({"T", "mT"})
CALLED = KEEP_ORDER | SWAPS - PROPERTIES
"""Names of methods and functions that change shapes."""
_FUNCTIONS = frozenset(f"{library}.{name}" for library in ("torch", "numpy") for name in CALLED - {"view"})
_AXIS = ("dim", "axis")
_OF_DATA = frozenset({"torch.tensor", "torch.FloatTensor", "torch.LongTensor", "numpy.array"})
_CONTIGUOUS = models.having(Trait.FILLS | Trait.FROM_NUMBERS | Trait.DRAWS_SHAPE, "torch", "numpy")
_LAYOUTS = frozenset({"axis", "order", "out", "memory_format", "layout", "like"})


@frozen
class Link:
    """`of.name(args)`, or `library.name(of, args)` for a function; `T` has no arguments."""

    node: ast.expr
    name: str
    of: ast.expr
    args: tuple[ast.expr, ...]
    is_method: bool = True


def link_at(node: ast.AST, model: SemanticModel) -> Link | None:
    """Return the shape change that an expression is."""
    match node:
        case ast.Attribute(value=of, attr="T" | "mT" as name) if model.types.type_of(of).tag in ARRAYS:
            return Link(node, name, of, ())
        case ast.Call(func=func, args=args, keywords=keywords):
            pass
        case _:
            return None
    given = list(args)
    for keyword in keywords:
        if keyword.arg not in _AXIS or len(keywords) > 1:
            return None
        given.append(keyword.value)
    qualified = model.names.qualified(func)
    if qualified in _FUNCTIONS and given and not isinstance(given[0], ast.Starred):
        if qualified == "numpy.reshape" and len(given) > len(("array", "shape")):
            return None  # its argument determines the order in which values are read, too
        return Link(node, qualified.rpartition(".")[2], given[0], tuple(given[1:]), is_method=False)
    if qualified is not None or not isinstance(func, ast.Attribute) or func.attr not in CALLED:
        return None
    may_be = model.types.type_of(func.value).tag in (*ARRAYS, TypeTag.UNKNOWN)
    return Link(node, func.attr, func.value, tuple(given)) if may_be else None


def shape_of(link: Link, model: SemanticModel) -> list[ast.expr] | None:
    """Return the sizes passed to `reshape`, `view`, `flatten()` or `ravel()`, one by one; None if they are
    passed as one value, or otherwise.
    """
    if link.name in ("flatten", "ravel"):
        return [ast.UnaryOp(ast.USub(), ast.Constant(1))] if not link.args else None
    if link.name not in ("reshape", "view"):
        return None
    match link.args:
        case [ast.Tuple(elts=sizes) | ast.List(elts=sizes)]:
            pass
        case [size] if integers.is_integer(size, model) is True or whole(size) is not None:
            sizes = [size]
        case [_, _, *_]:
            sizes = list(link.args)
        case _:
            return None
    return None if any(isinstance(size, ast.Starred) for size in sizes) else sizes


def gives_any_shape(link: Link, model: SemanticModel) -> bool:
    """Whether the resulting shape depends only on the number of values, so that the previous shape does not
    matter. `view` may also have a dtype as argument.
    """
    if shape_of(link, model) is not None:
        return True
    match link.args:
        case [ast.Attribute(attr="shape")] | [ast.Call(func=ast.Attribute(attr="size"), args=[])]:
            return link.name in ("reshape", "view")
        case [ast.Starred(), *_] | [_, ast.Starred(), *_]:
            return link.name in ("reshape", "view")
        case [ast.expr()]:
            return link.name == "reshape" and model.types.type_of(link.args[0]).tag is not TypeTag.STR
    return False


def keeps_order(link: Link, model: SemanticModel) -> bool:
    """Whether it keeps the order of the values and their type."""
    if link.name == "view":
        return gives_any_shape(link, model)
    if link.name in ("flatten", "ravel") and not all(
        integers.is_integer(given, model) for given in link.args
    ):
        return False  # the order in memory, for numpy
    return link.name in KEEP_ORDER and not any(
        model.types.type_of(given).tag is TypeTag.STR for given in link.args
    )


def never_fails(link: Link) -> bool:
    """Whether it accepts every shape."""
    if link.name == "reshape":
        return len(link.args) == 1 and whole(link.args[0]) == -1
    return link.name in ("flatten", "ravel", "squeeze") and not link.args


def whole(node: ast.expr) -> int | None:
    """Return the value of a literal integer."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def is_contiguous(node: ast.expr, model: SemanticModel) -> bool:
    """Whether the values surely are contiguous in memory."""
    match node:
        case ast.Call(func=ast.Attribute(value=of, attr="contiguous"), args=[], keywords=[]):
            return model.types.type_of(of).tag is TypeTag.TENSOR
        case ast.Call(func=func):
            qualified = model.names.qualified(func) or ""
            given = arguments_by_name(node, parameters.PARAMETERS.get(qualified))
            if given is None or not _LAYOUTS.isdisjoint(given):
                return False
            return qualified in _CONTIGUOUS or (qualified in _OF_DATA and _of_list(node, model))
    return False


def _of_list(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it copies a list. The copy of an array keeps the array's memory order, whatever that is."""
    if not call.args:
        return False
    data = call.args[0]
    return isinstance(data, (ast.List, ast.ListComp)) or model.types.type_of(data).tag is TypeTag.LIST


def permutation(link: Link, rank: int | None, model: SemanticModel) -> tuple[int, ...] | None:
    """Return the permutation of the axes for a value of this many dimensions."""
    numbers = [whole(given) for given in _flat(link.args)]
    axes = [number for number in numbers if number is not None]
    if len(axes) != len(numbers):
        return None
    numpy = model.types.type_of(link.of).tag is TypeTag.NDARRAY
    if link.name == "permute" or (link.name == "transpose" and numpy):
        rank = len(axes)
        if not rank or not all(-rank <= axis < rank for axis in axes):
            return None
        order = [axis % rank for axis in axes]
        return tuple(order) if sorted(order) == list(range(rank)) else None
    if rank is None or numpy or link.name not in ("transpose", "swapaxes", "swapdims") or len(axes) != 2:
        return None
    if not all(-rank <= axis < rank for axis in axes):
        return None
    order = list(range(rank))
    first, second = (axis % rank for axis in axes)
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def _flat(args: tuple[ast.expr, ...]) -> list[ast.expr]:
    match args:
        case (ast.Tuple(elts=axes) | ast.List(elts=axes),):
            return axes
    return list(args)
