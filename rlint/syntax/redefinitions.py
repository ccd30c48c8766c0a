"""Multiple definitions of one name in one scope: a property and its setter, overloads, alternatives under
`if`.

Facts about functions and classes are stored by their qualified names. The definition that a use of the name
refers to has the name itself; the others have a number: `Ring.capacity#2`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.regex import regex
from rlint.syntax.scopes import Scope

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_NUMBER = regex(r"#\d+")
_ACCESSORS = frozenset({"setter", "deleter", "getter"})


def make_names_unique(definitions: Iterable[tuple[Definition, Scope]]) -> None:
    """Give different qualified names to all definitions of a file with the same name in one scope."""
    equal: dict[tuple[Scope | None, str], list[Scope]] = {}
    for node, scope in definitions:
        equal.setdefault((scope.parent, node.name), []).append(scope)
    for (_, name), scopes in equal.items():
        if len(scopes) > 1:
            meant = [scope for scope in scopes if not _is_accessor(scope.node, name)] or scopes
            for number, scope in enumerate(scopes, 1):
                if scope is not meant[-1]:
                    _rename(scope, f"{scope.qualname}#{number}")


def shown(qualname: str) -> str:
    """Return a qualified name as it is written."""
    return _NUMBER.sub("", qualname) if "#" in qualname else qualname


def _is_accessor(node: ast.AST, name: str) -> bool:
    """Whether a decorator is an accessor of a property defined before: `@capacity.setter`."""
    return any(
        isinstance(decorator, ast.Attribute)
        and decorator.attr in _ACCESSORS
        and isinstance(decorator.value, ast.Name)
        and decorator.value.id == name
        for decorator in getattr(node, "decorator_list", ())
    )


def _rename(scope: Scope, qualname: str) -> None:
    stack = [(scope, qualname)]
    while stack:
        known, new = stack.pop()
        old = known.qualname
        stack += [(child, f"{new}{child.qualname[len(old) :]}") for child in known.children]
        known.qualname = new
