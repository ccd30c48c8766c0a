"""The items and fields of the result of a call that the function around the call reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis


def items_unpacked(call: ast.Call, analysis: FileAnalysis) -> int:
    """Return the number of variables that the result of a call is unpacked to; 0 if it is not, or if their
    number is open.
    """
    match analysis.syntax.parents.get(call):
        case ast.Assign(targets=[ast.Tuple(elts=targets)]) if not any(
            isinstance(target, ast.Starred) for target in targets
        ):
            return len(targets)
    return 0


_MOST_USES = 24
"""Maximum number of uses of a variable whose fields are collected."""


def items_read(call: ast.Call, analysis: FileAnalysis) -> tuple[int | str, ...] | None:
    """Return the positions of the items of a result that are read: of `a, b = f()` those of the variables
    that have readers; of `out = f()` the attributes and keys of `out` if code reads nothing else of it. None
    if other code may read all of them.
    """
    parent = analysis.syntax.parents.get(call)
    match parent:
        case ast.Expr():
            return ()
        case ast.Subscript(slice=ast.Constant(value=int(place)), ctx=ast.Load()) if place >= 0:
            return (place,)
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            return (key,)
        case ast.Attribute(attr=name, ctx=ast.Load()) if not _is_called(parent, analysis):
            return (name,)
        case ast.Assign(targets=[ast.Name() as target]):
            return _fields_read(target, analysis)
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


def _is_called(attribute: ast.expr, analysis: FileAnalysis) -> bool:
    return analysis.syntax.call_of(attribute) is not None


def _fields_read(target: ast.Name, analysis: FileAnalysis) -> tuple[str | int, ...] | None:
    """Return the attributes and keys that are read of a variable; None if code may read anything else."""
    scope = analysis.syntax.scope(target).lookup(target.id)
    binding = analysis.syntax.variables.bound_at(target)
    if scope is None or binding is None or scope.is_class:
        return None
    uses = analysis.syntax.variables.uses(target.id, scope)
    if len(uses) > _MOST_USES or not any(_field_of(use, analysis) is not None for use in uses):
        return None
    found: dict[str | int, None] = {}
    for read in analysis.readers(binding, scope):
        field = _field_of(read, analysis)
        if field is None:
            return None
        found[field] = None
    return tuple(found)


def _field_of(read: ast.Name, analysis: FileAnalysis) -> str | int | None:
    """Return the attribute or key that is read of a variable."""
    match analysis.syntax.parents.get(read):
        case ast.Attribute(attr=name, ctx=ast.Load()) as part if not _is_called(part, analysis):
            return name
        case ast.Subscript(value=value, slice=ast.Constant(value=int() | str() as key), ctx=ast.Load()):
            return key if value is read else None
    return None
