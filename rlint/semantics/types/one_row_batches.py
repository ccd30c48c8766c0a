"""Expressions that add a batch dimension of size 1."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.model import SemanticModel

_MAKES = models.names_having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy") | {"stack", "vstack"}


def only_row(node: ast.AST, model: SemanticModel | FileAnalysis) -> ast.expr | None:
    """Return the value that gets a batch dimension: `x` in `x.unsqueeze(0)`, `x[None]`, `x.view(1, -1)`,
    `tensor([x])`.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="unsqueeze"), args=[ast.Constant(value=0)]):
            return owner
        case ast.Call(
            func=ast.Attribute(attr="unsqueeze" | "expand_dims"), args=[value, ast.Constant(value=0)]
        ):
            return value
        case ast.Call(
            func=ast.Attribute(attr="expand_dims" | "unsqueeze"),
            args=[value],
            keywords=[ast.keyword(arg="axis" | "dim", value=ast.Constant(value=0))],
        ):
            return value
        case ast.Call(
            func=ast.Attribute(value=owner, attr="reshape" | "view"), args=[ast.Constant(value=1), _, *_]
        ):
            return owner
        case ast.Call(
            func=ast.Attribute(attr="reshape"), args=[value, ast.Tuple(elts=[ast.Constant(value=1), _, *_])]
        ):
            return value
        case ast.Subscript(value=value, slice=index):
            first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
            if isinstance(first, ast.Constant) and first.value is None:
                return value
            return value if model.names.qualified(first) == "numpy.newaxis" else None
        case ast.Call(func=func, args=[ast.List(elts=[value]), *_]) if not isinstance(value, ast.Starred):
            path = model.names.qualified(func) or ""
            made = path.startswith(("torch.", "numpy.")) and path.rpartition(".")[2] in _MAKES
            return value if made else None
    return None
