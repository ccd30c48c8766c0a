"""What is put into a list or dictionary after it was made: of what kind its items are then."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.types.algebra import each_of, item_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_KindOf = Callable[[ast.expr], Type]
_TAKES = {
    name: int(name in ("insert", "setdefault"))
    for name in models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE)
}
"""Methods that put one argument into what they are called on, and where it stands."""
_TAKES_ALL = frozenset({"extend", "extendleft", "update"})


def with_items_added(kind: Type, binding: Binding, syntax: SyntaxIndex, type_of: _KindOf) -> Type:
    """The kind of a list or dictionary that a variable is bound to, with all that this file puts into it by
    that name: `rows[0] = []`, `rows.append(None)`, `rows += more`.
    """
    if (
        kind.tag not in (TypeTag.LIST, TypeTag.DICT)
        or kind.item is None
        or binding.kind is not BindingKind.ASSIGN
    ):
        return kind
    scope = syntax.scope(binding.node).lookup(binding.name)
    item = kind.item
    for use in syntax.variables.uses(binding.name, scope):
        for added in put_in(use, syntax, type_of):
            item = item.joined(added.aged())
    return kind._replace(item=item or None) if item != kind.item else kind


def put_in(use: ast.expr, syntax: SyntaxIndex, type_of: _KindOf) -> Iterator[Type]:
    """The kinds of what is put into a container where it is named."""
    parent = syntax.parents.get(use)
    around = syntax.parents.get(parent) if parent is not None else None
    match parent, around:
        case ast.Subscript(value=owner, ctx=ast.Store(), slice=index), _ if owner is use:
            yield from _stored(parent, index, around, type_of)
        case ast.Attribute(attr=method), ast.Call(func=func, args=arguments) if func is parent:
            if method in _TAKES and len(arguments) > _TAKES[method]:
                yield type_of(arguments[_TAKES[method]])
            elif method in _TAKES_ALL:
                yield from (_items(type_of(argument)) for argument in arguments)
                yield from (type_of(keyword.value) for keyword in around.keywords)
        case ast.AugAssign(target=target, op=ast.Add() | ast.BitOr(), value=value), _ if target is use:
            yield _items(type_of(value))


def _stored(
    target: ast.Subscript, index: ast.expr, statement: ast.AST | None, type_of: _KindOf
) -> Iterator[Type]:
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            yield _items(type_of(value)) if isinstance(index, ast.Slice) else type_of(value)
        case ast.AugAssign(target=changed) if changed is target:
            return  # what is added to an item seldom makes another thing of it
        case _:
            yield UNKNOWN


def _items(kind: Type) -> Type:
    return item_of(kind) if kind.tag is TypeTag.DICT else each_of(kind)
