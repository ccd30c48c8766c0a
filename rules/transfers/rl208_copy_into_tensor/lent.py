"""Arrays that may lend their memory to a tensor: new ones that nothing else holds, and others."""

from __future__ import annotations

import ast

from rlint.models.kind import Tag
from rlint.semantics.model import Site
from rlint.syntax.scopes import Binding, How

_CHANGES = frozenset({"fill", "itemset", "partition", "put", "resize", "sort", "setfield", "setflags"})
_KEEPS = frozenset({"append", "add", "put", "push", "store", "insert", "extend", "appendleft"})


def is_new(array: ast.expr, call: ast.Call, site: Site) -> bool:
    """Does nothing but the call's argument hold the array: is it made there, or for it alone just before?"""
    if site.kind_of(array).fresh:
        return True
    if not isinstance(array, ast.Name):
        return False
    scope = site.scope(array).lookup(array.id)
    if scope is None or not scope.is_function or site.captured(array.id, scope):
        return False
    return (
        site.uses(array.id, scope).count(array) == 1
        and len(site.reads(array.id, scope)) == 1
        and all(_is_made_for(binding, call, site) for binding in site.definitions(array))
    )


def _is_made_for(binding: Binding, call: ast.Call, site: Site) -> bool:
    value = binding.value
    if binding.how is not How.ASSIGN or binding.path or value is None:
        return False
    targets = binding.statement.targets if isinstance(binding.statement, ast.Assign) else [None]
    kind = site.kind_of(value)
    return (
        len(targets) == 1
        and kind.tag is Tag.NDARRAY
        and kind.fresh
        and site.loops(binding.statement) == site.loops(call)
    )


def is_left_alone(name: ast.Name, site: Site) -> bool:
    """Is the array of a variable of the function neither written to nor kept by it, as far as one sees?"""
    scope = site.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return False
    for use in site.uses(name.id, scope):
        parent = site.parent(use)
        if isinstance(parent, ast.AugAssign):
            return False
        if use is name or not isinstance(use.ctx, ast.Load):
            continue
        match parent, site.parent(parent) if parent is not None else None:
            case ast.Subscript(ctx=ast.Store() | ast.Del()), _:
                return False
            case ast.Attribute(attr=method), ast.Call() if method in _CHANGES:
                return False
            case ast.keyword(arg="out"), _:
                return False
            case ast.Call(func=ast.Attribute(attr=method)), _ if method in _KEEPS:
                return False
            case ((ast.Assign() | ast.AnnAssign() | ast.Yield() | ast.Return()), _):
                return False
    return True
