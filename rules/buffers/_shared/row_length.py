"""The length of the rows that are put into a list, if the source determines it."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag

_MADE_BY_SHAPE = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "full"))
_COPIED = frozenset({"numpy.array", "numpy.asarray", "numpy.copy"})
_SAME_LENGTH = frozenset({"astype", "copy"})
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})
_DEPTH = 6


def have_same_form(data: ast.expr, model: SemanticModel) -> bool:
    """Whether a list display contains rows of the same non-zero length, possibly nested in lists; a
    comprehension may yield no rows.
    """
    if model.program.is_attribute_read("resize") or any(
        is_laid_out_otherwise(attribute, model) for attribute in ("shape", "dtype")
    ):
        return False  # an array may have been replaced by one with other rows, or read as other numbers
    match data:
        case (
            ast.List(elts=[ast.List() | ast.Tuple(), *_] as rows)
            | ast.Tuple(elts=[ast.List() | ast.Tuple(), *_] as rows)
        ):
            sizes = {len(row.elts) if isinstance(row, (ast.List, ast.Tuple)) else -1 for row in rows}
            inside = [each for row in rows if isinstance(row, (ast.List, ast.Tuple)) for each in row.elts]
            return len(sizes) == 1 and 0 not in sizes and _one_length(inside, model)
        case ast.List(elts=rows) | ast.Tuple(elts=rows):
            return _one_length(rows, model)
    return False


def is_laid_out_otherwise(attribute: str, model: SemanticModel) -> bool:
    """Whether code of the program may set the `shape`, `dtype` or `strides` of an array."""
    return bool(model.index.attribute_writes.sets_in_arrays(attribute))


def _one_length(rows: list[ast.expr], model: SemanticModel) -> bool:
    lengths = {_length(row, model, _DEPTH) for row in rows}
    return len(lengths) == 1 and bool(lengths.pop())


def _length(row: ast.expr, model: SemanticModel, depth: int) -> int | None:
    """Return the length of an array of one dimension; None if it is not known."""
    if depth <= 0:
        return None
    match row:
        case ast.Call(func=func, args=[first, *_]) if model.names.qualified(func) in _MADE_BY_SHAPE:
            sizes = first.elts if isinstance(first, (ast.Tuple, ast.List)) else [first]
            return _constant(sizes[0]) if len(sizes) == 1 else None
        case ast.Call(func=func, args=[first, *_]) if model.names.qualified(func) in _COPIED:
            if isinstance(first, (ast.List, ast.Tuple)):
                plain = all(model.types.type_of(each).tag in _NUMBERS for each in first.elts)
                return len(first.elts) if plain else None
            return _length(first, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _SAME_LENGTH:
            return _length(owner, model, depth - 1)
        case ast.Subscript(value=held, slice=index) if model.types.type_of(index).tag is TypeTag.INT:
            return _width(held, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            sides = [side for side in (left, right) if model.types.type_of(side).tag not in _NUMBERS]
            lengths = {_length(side, model, depth - 1) for side in sides}
            return lengths.pop() if len(lengths) == 1 else None
        case ast.UnaryOp(operand=operand):
            return _length(operand, model, depth - 1)
        case ast.Name():
            return _bound_length(row, model, depth - 1)
    return None


def _bound_length(name: ast.Name, model: SemanticModel, depth: int) -> int | None:
    lengths = set()
    for binding in model.dataflow.definitions(name):
        if binding.path or binding.value is None:
            return None
        if binding.kind is BindingKind.ASSIGN:
            lengths.add(_length(binding.value, model, depth))
        elif binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION):
            lengths.add(_width(binding.value, model, depth))
        else:
            return None
    return lengths.pop() if len(lengths) == 1 else None


def _width(held: ast.expr, model: SemanticModel, depth: int) -> int | None:
    """Return the length of the rows of an array of two dimensions, judging by its constructor."""
    if depth <= 0:
        return None
    values: list[ast.expr | None]
    if isinstance(held, ast.Name):
        values = [None if each.path else each.value for each in model.dataflow.definitions(held)]
    elif isinstance(held, ast.Attribute):
        stores = [use for use in model.names.attribute_uses(held.attr) if not isinstance(use.ctx, ast.Load)]
        parents = [model.parent(use) for use in stores]
        values = [
            parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None for parent in parents
        ]
        values += _in_the_body(held, model)
    else:
        values = [held]
    widths = {_made_width(value, model) for value in values}
    return widths.pop() if len(widths) == 1 else None


def _in_the_body(held: ast.Attribute, model: SemanticModel) -> list[ast.expr | None]:
    """Return the value that the body of the class assigns to an attribute."""
    around = model.class_of(held)
    scope = model.syntax.scopes[around] if around is not None else None
    bindings = scope.bindings.get(held.attr, []) if scope is not None else []
    return [None if binding.path else binding.value for binding in bindings]


def _made_width(value: ast.expr | None, model: SemanticModel) -> int | None:
    match value:
        case ast.Call(func=func, args=[ast.Tuple(elts=[_, size]) | ast.List(elts=[_, size]), *_]) if (
            model.names.qualified(func) in _MADE_BY_SHAPE
        ):
            return _constant(size)
    return None


def _constant(size: ast.expr) -> int | None:
    match size:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
    return None
