"""Names of the classes that a file uses, other than by defining or importing them."""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.walk import is_in

_CLASS_IN_TEXT = regex(r"(?:^|[.:])(\w*[A-Z]\w*)$")
"""A class named by a string, as in a registry: "package.module:Class"."""
_LONGEST = 200


def classes_used(analysis: FileAnalysis, star_imports: tuple[str, ...]) -> frozenset[str]:
    """Return the last names of all classes of the project that a file may use: its own outside of their
    bodies, imported ones by their original names, and those that strings name. Left out are attributes
    (`module.Class`), and names in lower case.
    """
    syntax = analysis.syntax
    own = {node.name: node for node in syntax.module.body if isinstance(node, ast.ClassDef)}
    imported = {
        alias.asname or alias.name: alias.name
        for node in syntax.of_type(ast.ImportFrom)
        for alias in node.names
    }
    found = set()
    for name in syntax.variables.names:
        if name.islower():
            continue
        if name in own:
            uses = syntax.variables.named(name)
            if own[name].decorator_list or any(not is_in(use, own[name]) for use in uses):
                found.add(name)
        elif name in imported:
            found.add(imported[name])
        elif star_imports:
            found.add(name)
    return frozenset(found | _named_by_strings(analysis))


def _named_by_strings(analysis: FileAnalysis) -> set[str]:
    found = set()
    for node in analysis.syntax.of_type(ast.Constant):
        text = node.value
        if isinstance(text, str) and len(text) <= _LONGEST:
            matched = _CLASS_IN_TEXT.search(text)
            if matched is not None:
                found.add(matched.group(1))
    return found
