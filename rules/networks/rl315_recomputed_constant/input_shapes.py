"""Sizes that are read from the shape of an input: `batch_size = states.shape[0]`."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, regex

_TENSORS = (TypeTag.TENSOR, TypeTag.NDARRAY, TypeTag.UNKNOWN)
_SIZES = regex(
    r"(^|_)(batch_size|num_envs|n_envs|(n|num)_(bins|atoms|quantiles|supports)|(bin|atom|quantile)_(num|count)"
    r"|support_size)$"
)
"""Names of parameters that are sizes, and the same in nearly all calls."""


def is_size(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a name is a parameter that is a size: `batch_size`."""
    bindings = model.dataflow.definitions(name)
    kinds = [binding.kind for binding in bindings]
    return _SIZES.search(name.id) is not None and kinds == [BindingKind.PARAMETER]


def sized_by(node: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the tensor whose shape contains the size that an expression reads; None for other values."""
    match node:
        case ast.Name():
            return _bound_size(node, model)
        case ast.Call(func=ast.Name(id="len"), args=[of]):
            return _tensor(of, model)
        case ast.Subscript(
            value=shape,
            slice=ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())),
        ):
            return _of_shape(shape, model)
        case ast.Call(func=ast.Attribute(value=of, attr="size"), args=[ast.Constant() | ast.UnaryOp()]):
            return _tensor(of, model)
    return None


def _of_shape(shape: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the tensor of a whole shape, or of a part: `x` for `x.shape`, `x.shape[:2]` and `x.size()`."""
    match shape:
        case ast.Subscript(value=ast.Attribute(attr="shape") as whole, slice=ast.Slice()):
            return _of_shape(whole, model)
        case ast.Attribute(value=of, attr="shape"):
            return _tensor(of, model)
        case ast.Call(func=ast.Attribute(value=of, attr="size"), args=[]):
            return _tensor(of, model)
    return None


def _bound_size(name: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return the same for a variable that one assignment binds: `n, c, h, w = x.size()`."""
    bindings = model.dataflow.definitions(name)
    value = bindings[0].value if len(bindings) == 1 else None
    if value is None or isinstance(value, ast.Name):
        return None
    return _of_shape(value, model) if bindings[0].path else sized_by(value, model)


def _tensor(of: ast.expr, model: SemanticModel) -> ast.expr | None:
    is_input = isinstance(of, (ast.Name, ast.Attribute)) and model.types.type_of(of).tag in _TENSORS
    return of if is_input else None
