"""Values parsed from text, such as that of `json.loads`: dicts, lists, strings and numbers of Python."""

from __future__ import annotations

import ast

from rlint import models
from rlint.models.fact import Fact
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.scopes import BindingKind

_PARSERS = models.having(Trait.PARSES, "ast", "json", "orjson")
_DEPTH = 4


def is_parsed(value: ast.expr, names: QualifiedNames, depth: int = _DEPTH) -> bool:
    """Whether a value was parsed from text, or is a part of such a value: `data`, `data["args"]`,
    `data.get("args", {})`. Hooks given by keyword may create other objects.
    """
    if depth <= 0:
        return False
    match value:
        case ast.Call(func=ast.Attribute(value=owner, attr="get"), keywords=[]) if is_parsed(
            owner, names, depth - 1
        ):
            return all(isinstance(default, ast.Constant | ast.Dict | ast.List) for default in value.args[1:])
        case ast.Call(func=func, keywords=[]):
            return names.qualified(func) in _PARSERS
        case ast.Subscript(value=owner):
            return is_parsed(owner, names, depth - 1)
        case ast.Name():
            scope, bindings = names.bindings(value)
            return (
                scope is not None
                and bool(bindings)
                and all(
                    binding.kind is BindingKind.ASSIGN
                    and not binding.path
                    and binding.value is not None
                    and is_parsed(binding.value, names, depth - 1)
                    for binding in bindings
                )
            )
    return False


def lookup(method: str, argument_count: int) -> Fact | None:
    """Return the row of a method that changes nothing, of a dict: `get`, `items`."""
    known = models.method_fact(TypeTag.DICT, method, argument_count)
    return known if known is not None and known.effect.quiet else None
