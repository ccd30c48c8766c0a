"""Names under which a file knows classes."""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.syntax.syntax_index import SyntaxIndex

_IN_TEXT = regex(r"(?:^|[.:])(\w*[A-Z]\w*)$")
_LONGEST = 200


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


def class_in_text(text: str) -> str | None:
    """Return the name of the class that a string may name, as in a registry: "package.module:Class"."""
    matched = _IN_TEXT.search(text) if len(text) <= _LONGEST else None
    return matched.group(1) if matched is not None else None
