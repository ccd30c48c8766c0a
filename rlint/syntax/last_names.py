"""The last name of an expression, and the calls of a file by last name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import place_in_order


def calls_named(names: Collection[str], syntax: SyntaxIndex) -> list[ast.Call]:
    """Return the calls in a file whose callee has one of these last names, in source order."""
    calls = syntax.written.calls_of(names)
    others = [call for call in syntax.written.calls.get("", ()) if last_name(call.func) in names]
    return sorted([*calls, *others], key=place_in_order) if others else calls


def calls_like(is_meant: Callable[[str], object], syntax: SyntaxIndex) -> list[ast.Call]:
    """Return the calls in a file whose callee has a last name that satisfies a predicate, in source order."""
    calls = syntax.written.calls
    unnamed = (last_name(call.func) or "" for call in calls.get("", ()))
    return calls_named({name for name in (*calls, *unnamed) if name and is_meant(name)}, syntax)


def last_name(expression: ast.AST) -> str | None:
    """Return the last name in an access: `done` of `self.done`, `dones` of `dones.any()` or `dones[i]`."""
    if type(expression) is ast.Name:
        return expression.id
    if type(expression) is ast.Attribute:
        return expression.attr
    match expression:
        case ast.Call(func=ast.Attribute(value=owner, attr="any" | "all" | "item")):
            return last_name(owner)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
        case ast.Call(func=ast.Name(id="any" | "all" | "bool" | "float" | "int"), args=[argument]):
            return last_name(argument)
        case ast.Call(func=ast.Name(id=name)):
            return name
        case ast.Subscript(value=owner):
            return last_name(owner)
    return None
