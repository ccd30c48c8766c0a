"""Whether other code may put items into a container: then its item type is not sure."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint import models
from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.value_use import SyntacticUse, UseKind, use_of

_Qualified = Callable[[ast.expr], str | None]
_CHANGES = EffectKind.MUTATES | EffectKind.UNKNOWN | EffectKind.INDIRECT | EffectKind.OTHER
_KEEPS_OUT = frozenset(
    {
        UseKind.ITERATED,
        UseKind.OPERAND,
        UseKind.ADDED,
        UseKind.AUGMENTED,
        UseKind.ITEM,
        UseKind.INDEX,
        UseKind.COMPARED,
        UseKind.TESTED,
        UseKind.SHOWN,
        UseKind.DISCARDED,
    }
)
"""Uses after which no other code holds the container."""


def is_shared(use: ast.expr, tag: TypeTag, syntax: SyntaxIndex, qualified: _Qualified) -> bool:
    """Whether other code may hold the container after this use of it, and put any items into it."""
    found = use_of(use, syntax.parents)
    while found.kind is UseKind.SAME:
        found = use_of(found.at, syntax.parents)
    if found.kind in _KEEPS_OUT:
        return False
    match found.kind:
        case UseKind.METHOD:
            return not _is_known(found, tag)
        case UseKind.ARGUMENT:
            return not _only_reads(found.at, qualified)
        case UseKind.BOUND:
            return not _is_unpacked(found.at)
        case UseKind.RETURNED:
            return isinstance(use, ast.Attribute)
        case UseKind.ELEMENT:
            return not _is_copied(found, syntax)
    return True


def _is_known(use: SyntacticUse, tag: TypeTag) -> bool:
    """Whether the effect of a method is known: items that it inserts are seen at its calls."""
    assert isinstance(use.at, ast.Call)
    assert isinstance(use.at.func, ast.Attribute)
    return models.method_fact(tag, use.at.func.attr) is not None


def _only_reads(call: ast.AST, qualified: _Qualified) -> bool:
    if not isinstance(call, ast.Call):
        return False
    fact = models.callable_fact(qualified(call.func) or "")
    return fact is not None and not fact.effect.kind & _CHANGES


def _is_unpacked(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and all(
        isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets
    )


def _is_copied(use: SyntacticUse, syntax: SyntaxIndex) -> bool:
    """Whether only the items are passed on (`[*rows]`, `f(**named)`), or a function returns it."""
    match use.at:
        case ast.Starred():
            return True
        case ast.keyword(arg=None):
            return True
        case ast.Call(keywords=keywords) if any(
            keyword.arg is None and keyword.value is use.node for keyword in keywords
        ):
            return True
        case ast.Dict(keys=keys, values=values) if any(
            key is None and value is use.node for key, value in zip(keys, values, strict=True)
        ):
            return True
        case ast.Tuple() | ast.List() | ast.Dict() as display:
            return isinstance(use.node, ast.Name) and isinstance(syntax.parents.get(display), ast.Return)
    return False
