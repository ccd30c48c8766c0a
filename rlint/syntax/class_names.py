"""Names under which a file knows classes."""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

_IN_TEXT = regex(r"(?:^|[.:])(\w*[A-Z]\w*)$")
_LONGEST = 200
_TESTS_CLASS = frozenset({"isinstance", "issubclass", "super", "cast"})
_TYPES = (ast.arg, ast.AnnAssign, *FUNCTIONS)
"""Nodes with annotations."""


def own_classes(syntax: SyntaxIndex) -> dict[str, ast.ClassDef]:
    """Return the classes that a file defines at its top level, by name."""
    return {node.name: node for node in syntax.module.body if isinstance(node, ast.ClassDef)}


def imported_originals(syntax: SyntaxIndex) -> dict[str, str]:
    """Return the names that `from` imports bind, and the original names of what they import."""
    return {
        alias.asname or alias.name: alias.name
        for node in syntax.of_type(ast.ImportFrom)
        for alias in node.names
    }


def may_make_object(use: ast.Name, syntax: SyntaxIndex) -> bool:
    """Whether a use of the name of a class may lead to an object of exactly this class."""
    child: ast.AST = use
    for parent in syntax.ancestors(use):
        if isinstance(parent, ast.ClassDef):
            return child not in parent.bases
        if isinstance(parent, ast.Call):
            return child is parent.func or last_name(parent.func) not in _TESTS_CLASS
        if isinstance(parent, _TYPES):
            return child is not getattr(parent, "annotation", None) and child is not getattr(
                parent, "returns", None
            )
        if isinstance(parent, ast.stmt):
            return True
        child = parent
    return True


def class_in_text(text: str) -> str | None:
    """Return the name of the class that a string may name, as in a registry: "package.module:Class"."""
    matched = _IN_TEXT.search(text) if len(text) <= _LONGEST else None
    return matched.group(1) if matched is not None else None
