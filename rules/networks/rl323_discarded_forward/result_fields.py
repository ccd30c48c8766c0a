"""Fields of results: objects of data classes and named tuples of the project that a function returns."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag


def field_of_argument(node: ast.AST, call: ast.Call, model: SemanticModel) -> str | None:
    """Return the field of a data class of this file in which a call of the class puts an argument."""
    if model.types.type_of(call.func).tag is not TypeTag.CLASS:
        return None
    fields = _fields(call, model)
    if isinstance(node, ast.keyword):
        return node.arg if node.arg in fields else None
    place = next((index for index, each in enumerate(call.args) if each is node), -1)
    if place < 0 or any(isinstance(each, ast.Starred) for each in call.args[: place + 1]):
        return None
    return fields[place] if place < len(fields) else None


def _fields(call: ast.Call, model: SemanticModel) -> tuple[str, ...]:
    """Return the fields of the data class that a call creates an object of, in order; empty if the class has
    methods, which may read them.
    """
    made = model.types.type_of(call.func)
    cls = model.index.class_of(made)
    return tuple(cls.declared) if cls is not None and not cls.methods else ()
