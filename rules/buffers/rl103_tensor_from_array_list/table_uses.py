"""Tensors that are used as tables: their second dimension shows that the items of a list are arrays."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, Use, UseKind, models

_SAME_SHAPE = (
    models.having(Trait.RELOCATES | Trait.CASTS | Trait.CASTS_TO | Trait.ELEMENTWISE, TypeTag.TENSOR)
    | models.having(Trait.COPIES | Trait.DETACHES, TypeTag.TENSOR)
    | {"to", "requires_grad_"}
)
_ALONG = models.having(Trait.REDUCES | Trait.SUMMARISES | Trait.GIVES_INDEX, TypeTag.TENSOR)


def is_table(made: ast.Call, model: SemanticModel) -> bool:
    """Whether a tensor has a second dimension: it is reduced along it or indexed in it, here or in a function
    of the file that receives it.
    """
    if _is_stored(made, model):
        return False  # as a column of another tensor
    return any(
        _has_columns(use)
        for use in model.dataflow.uses_across_functions(made, lambda use: _keeps_shape(use, model))
    )


def _is_stored(made: ast.Call, model: SemanticModel) -> bool:
    """Whether a tensor is assigned to a part of another one, or to an attribute."""
    statement = model.syntax.statement(made)
    return isinstance(statement, ast.Assign) and not all(
        isinstance(target, ast.Name) for target in statement.targets
    )


def _keeps_shape(use: Use, model: SemanticModel) -> bool:
    """Whether the result of a use has the same dimensions: those of an operator, or a method such as `to`."""
    if use.kind is UseKind.OPERAND:
        return not isinstance(getattr(use.at, "op", None), ast.MatMult)
    match use.kind, use.at:
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)):
            return method in _SAME_SHAPE
        case UseKind.ARGUMENT, ast.Call(func=func):
            return (model.names.qualified(func) or "") in models.GIVES_BACK
    return False


def _has_columns(use: Use) -> bool:
    match use.kind, use.at:
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)) if method in _ALONG:
            given = [
                *use.at.args[:1],
                *(each.value for each in use.at.keywords if each.arg in ("dim", "axis")),
            ]
            return any(_is_second(axis) for axis in given)
        case UseKind.ITEM, ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), column])):
            return isinstance(column, ast.Slice) or _is_position(column)
    return False


def _is_second(axis: ast.expr) -> bool:
    return isinstance(axis, ast.Constant) and type(axis.value) is int and axis.value >= 1


def _is_position(index: ast.expr) -> bool:
    """Whether an index is a number, rather than `None`, which adds a dimension."""
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Constant) and type(index.value) is int


def is_of_numbers(made: ast.Call, model: SemanticModel) -> bool:
    """Whether a tensor is given a second dimension, or converted to indices, as a list of numbers is."""
    uses = model.dataflow.uses(made, frozenset({UseKind.METHOD}))
    return any(use.kind is UseKind.METHOD and _adds_dimension(use.at) for use in uses)


def _adds_dimension(call: ast.AST) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="long" | "int" | "unsqueeze")):
            return True
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[*_, last]):
            return len(call.args) == 1 or (isinstance(last, ast.Constant) and last.value == 1)
    return False
