"""The items of the result of a call that the function around the call reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis


def items_read(call: ast.Call, analysis: FileAnalysis) -> tuple[int, ...] | None:
    """Return the positions of the items of a result that are read: of `a, b = f()` those of the variables
    that have readers. None if other code may read all of them.
    """
    parent = analysis.syntax.parents.get(call)
    match parent:
        case ast.Expr():
            return ()
        case ast.Subscript(slice=ast.Constant(value=int(place)), ctx=ast.Load()) if place >= 0:
            return (place,)
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            if not any(isinstance(target, ast.Starred) for target in targets):
                return tuple(place for place, target in enumerate(targets) if _is_read(target, analysis))
    return None


def _is_read(target: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether any node may read the value that a variable, or another target, is bound to."""
    if not isinstance(target, ast.Name):
        return True
    scope = analysis.syntax.scope(target).lookup(target.id)
    binding = analysis.syntax.variables.bound_at(target)
    if scope is None or binding is None or scope.is_class:
        return True
    return bool(analysis.readers(binding, scope))
