"""Types of the items that are put into a list, dictionary or module after its creation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Caveat, Type, TypeTag
from rlint.semantics.types.algebra import each_of, item_of, known_item
from rlint.semantics.types.container_aliases import is_shared
from rlint.semantics.types.results import networks
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_KindOf = Callable[[ast.expr], Type]
_Qualified = Callable[[ast.expr], str | None]
_TAKES = {
    name: int(name in ("add_module", "insert", "register_module", "setdefault"))
    for name in models.having(
        Trait.INSERTS, TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.MODULE
    )
}
"""Methods that put one argument into their object, with the argument's position."""
_TAKES_ALL = frozenset({"extend", "extendleft", "update"})
HOLD = frozenset({TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE, TypeTag.MODULE})
"""Container types whose items are tracked."""
_MAKERS = frozenset(
    name.rpartition(".")[2]
    for tag in (TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE)
    for name in models.giving(tag, "builtins", "collections") - models.having(Trait.REFLECTS, "builtins")
) | models.names_having(Trait.HOLDS_PARTS, "torch.nn")
"""Last names of calls that create an empty container without arguments."""
_MOST_KEYS = 32


class Added(NamedTuple):
    """An item put into a container, with its key if that is a literal."""

    kind: Type
    key: str | None = None


def with_items_added(
    kind: Type, binding: Binding, syntax: SyntaxIndex, type_of: _KindOf, qualified: _Qualified
) -> Type:
    """Return the type of a list or dictionary bound to a variable, with all items that this file puts into it
    by that name: `rows[0] = []`, `rows.append(None)`, `rows += more`.
    """
    if kind.tag not in HOLD or binding.kind is not BindingKind.ASSIGN or binding.path:
        return kind
    starts_empty = is_empty(binding.value)
    if kind.item is None and not starts_empty and not kind.keys:
        return kind
    scope = syntax.scope(binding.node).lookup(binding.name)
    uses = list(syntax.variables.uses(binding.name, scope))
    found = with_added(
        kind, (added for use in uses for added in put_in(use, syntax, type_of)), starts_empty=starts_empty
    )
    reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
    if isinstance(binding.statement, ast.Assign) and len(binding.statement.targets) > 1:
        return in_doubt(found)  # it also has another name
    return in_doubt_if_shared(found, reads, syntax, qualified)


def in_doubt_if_shared(
    kind: Type, uses: Iterable[ast.expr], syntax: SyntaxIndex, qualified: _Qualified
) -> Type:
    """Return the type of a container, with doubtful items if one of its uses lets other code insert more."""
    if kind.tag is TypeTag.MODULE or not (kind.item or any(kind.parts)):
        return kind
    if not any(is_shared(use, kind.tag, syntax, qualified) for use in uses):
        return kind
    return in_doubt(kind)


def in_doubt(kind: Type) -> Type:
    """Return the type of a container that may hold items of other types."""
    parts = tuple([_doubtful(part) for part in kind.parts])
    return kind._replace(item=_doubtful(kind.item) if kind.item is not None else None, parts=parts)


def _doubtful(kind: Type) -> Type:
    return kind._replace(caveat=(kind.caveat or Caveat())._replace(doubtful=True))


def is_empty(value: ast.expr | None) -> bool:
    """Whether an expression creates an empty container: `[]`, `{}`, `deque(maxlen=9)`."""
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker), args=[], keywords=given):
            return maker in _MAKERS and all(keyword.arg == "maxlen" for keyword in given)
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker), args=[first, *_]):
            return maker in _MAKERS and is_empty(first)
    return False


def with_added(kind: Type, added: Iterable[Added], *, starts_empty: bool = False) -> Type:
    """Return the type of a container with the items that are put into it. A container that `starts_empty`
    holds no other items; unknown items of another container stay unknown.
    """
    if kind.item is None and not starts_empty and not kind.keys:
        return kind
    item = UNKNOWN if kind.item is None else kind.item
    # an empty module holds no module of an unknown class
    begun = not starts_empty or (kind.item is not None and kind.tag is not TypeTag.MODULE)
    at: dict[str, Type] | None = None
    if kind.tag is TypeTag.DICT and (kind.keys or starts_empty):
        at = dict(zip(kind.keys, kind.parts, strict=True))
    for each in added:
        held = each.kind.aged()
        item, begun = item.joined(held) if begun else held, True
        if at is None or each.key is None or len(at) >= _MOST_KEYS:
            at = None
        else:
            at[each.key] = at[each.key].joined(held) if each.key in at else held
    if not begun:
        return kind
    holds = networks.held(item) if kind.tag is TypeTag.MODULE else known_item(item)
    keys, parts = tuple(at or ()), tuple((at or {}).values())
    if kind.tag is not TypeTag.DICT:
        keys, parts = kind.keys, kind.parts
    if (holds, keys, parts) == (kind.item, kind.keys, kind.parts):
        return kind
    return kind._replace(item=holds, keys=keys, parts=parts)


def put_in(use: ast.expr, syntax: SyntaxIndex, type_of: _KindOf) -> Iterator[Added]:
    """Yield the types of the items put into a container at its uses."""
    parent = syntax.parents.get(use)
    around = syntax.parents.get(parent) if parent is not None else None
    match parent, around:
        case ast.Subscript(value=owner, ctx=ast.Store(), slice=index), _ if owner is use:
            yield from _stored(parent, index, around, type_of)
        case ast.Attribute(attr=method), ast.Call(func=func, args=arguments) if func is parent:
            if method in _TAKES and len(arguments) > _TAKES[method]:
                yield Added(type_of(arguments[_TAKES[method]]))
            elif method in _TAKES_ALL:
                for argument in arguments:
                    yield from _all_of(type_of(argument))
                yield from (Added(type_of(keyword.value), keyword.arg) for keyword in around.keywords)
        case ast.AugAssign(target=target, op=ast.Add() | ast.BitOr(), value=value), _ if target is use:
            yield from _all_of(type_of(value))


def _stored(
    target: ast.Subscript, index: ast.expr, statement: ast.AST | None, type_of: _KindOf
) -> Iterator[Added]:
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            if isinstance(index, ast.Slice):
                yield from _all_of(type_of(value))
            else:
                key = (
                    index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else None
                )
                yield Added(type_of(value), key)
        case ast.AugAssign(target=changed) if changed is target:
            return  # assigning into an item seldom changes its type
        case _:
            yield Added(UNKNOWN)


def _all_of(kind: Type) -> Iterator[Added]:
    """Yield the items of an iterable that is added as a whole."""
    if kind.keys:
        yield from (Added(part, key) for key, part in zip(kind.keys, kind.parts, strict=True))
    elif kind.tag is TypeTag.LIST and kind.item is None and kind.fresh:
        yield Added(UNKNOWN)
    else:
        yield Added(item_of(kind) if kind.tag is TypeTag.DICT else each_of(kind))
