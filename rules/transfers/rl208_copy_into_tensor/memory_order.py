"""Arrays whose elements may be in another order in memory than those of a copy by `torch.tensor`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, Trait, TypeTag, last_name, models

_PERMUTES = models.having(Trait.PERMUTES, TypeTag.NDARRAY) | models.names_having(Trait.PERMUTES, "numpy")
_TRANSPOSED = ("T", "mT")
_FORTRAN = ("asfortranarray", "meshgrid")
_IN_ORDER = ("copy", "flatten", "ravel", "ascontiguousarray")
"""Methods and functions whose result is always contiguous."""
_COLUMNS = ("nonzero", "where")
"""Functions that return the columns of one array, with a row for each element that they found."""
_DEPTH = 6


def may_be_in_other_order(array: ast.expr, model: SemanticModel) -> bool:
    """Whether a new array may not be contiguous, as far as the code that creates it shows: an operation keeps
    the order of a transposed array (`frames.T / 255`), and an index after a slice selects columns.
    """
    if _is_column(array, model, _DEPTH):
        return True
    return model.types.type_of(array).rank != 1 and _is_permuted(array, model, _DEPTH)


def _is_column(array: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether an array may be a column of the result of `np.nonzero`."""
    if depth <= 0:
        return False
    match array:
        case ast.Subscript(value=found):
            return _finds_in_several_dimensions(found, model)
        case ast.Name():
            return any(
                _finds_in_several_dimensions(binding.value, model)
                if binding.path
                else _is_column(binding.value, model, depth - 1)
                for binding in model.dataflow.definitions(array)
                if binding.value is not None
            )
    return False


def _finds_in_several_dimensions(found: ast.expr, model: SemanticModel) -> bool:
    if isinstance(found, ast.Name):
        values = [binding.value for binding in model.dataflow.definitions(found) if not binding.path]
        return any(
            isinstance(value, ast.Call) and _finds_in_several_dimensions(value, model) for value in values
        )
    match found:
        case ast.Call(func=ast.Attribute(value=owner, attr="nonzero"), args=[]):
            return model.types.type_of(owner).rank != 1
        case ast.Call(func=func, args=[condition]) if last_name(func) in _COLUMNS:
            return model.types.type_of(condition).rank != 1
    return False


def _is_permuted(array: ast.expr, model: SemanticModel, depth: int) -> bool:
    if depth <= 0 or model.types.type_of(array).rank == 1:
        return False
    match array:
        case ast.Attribute(attr=name) if name in _TRANSPOSED:
            return True
        case ast.Attribute(value=owner, attr=name) if model.names.is_self(owner):
            stores = (use for use in model.names.attribute_uses(name) if isinstance(use.ctx, ast.Store))
            values = (getattr(model.parent(store), "value", None) for store in stores)
            return any(
                isinstance(value, ast.expr) and _is_permuted(value, model, depth - 1) for value in values
            )
        case ast.Name():
            return any(
                _is_permuted(binding.value, model, depth - 1)
                for binding in model.dataflow.definitions(array)
                if binding.value is not None and not binding.path
            )
        case ast.Subscript(value=owner, slice=index):
            return _selects_columns(index, model) or _is_permuted(owner, model, depth - 1)
        case ast.Call(func=func):
            name = last_name(func) or ""
            if name in _IN_ORDER:
                return False
            if name in _PERMUTES or name in _FORTRAN or any(each.arg == "order" for each in array.keywords):
                return True
    return any(_is_permuted(part, model, depth - 1) for part in _operands(array))


def _selects_columns(index: ast.expr, model: SemanticModel) -> bool:
    """Whether an index has a list or array after a slice: `rows[:, chosen]`."""
    if not isinstance(index, ast.Tuple):
        return False
    is_after_slice = False
    for part in index.elts:
        if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)):
            is_after_slice = True
        elif is_after_slice and model.types.type_of(part).tag is not TypeTag.INT:
            return True
    return False


def _operands(array: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression from which a result may get its order in memory."""
    match array:
        case ast.Call(func=func, args=args):
            if isinstance(func, ast.Attribute):
                yield func.value
            yield from args
        case ast.Compare():
            yield from (array.left, *array.comparators)
        case ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.NamedExpr() | ast.List() | ast.Tuple():
            yield from (part for part in ast.iter_child_nodes(array) if isinstance(part, ast.expr))
