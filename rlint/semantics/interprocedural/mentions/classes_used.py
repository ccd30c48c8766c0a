"""Names of the classes that a file uses, other than by defining or importing them."""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import is_in

_CLASS_IN_TEXT = regex(r"(?:^|[.:])(\w*[A-Z]\w*)$")
"""A class named by a string, as in a registry: "package.module:Class"."""
_LONGEST = 200


_TESTS_CLASS = frozenset({"isinstance", "issubclass", "super", "cast"})
_TYPES = (ast.arg, ast.AnnAssign, *FUNCTIONS)
"""Nodes with annotations."""


def classes_used(
    analysis: FileAnalysis, star_imports: tuple[str, ...], *, created: bool = False
) -> frozenset[str]:
    """Return the last names of all classes of the project that a file may use: its own outside of their
    bodies, imported ones by their original names, and those that strings name. Left out are attributes
    (`module.Class`), and names in lower case; with `created`, also uses as a base, as an annotation, or in
    tests of the class, which create no object.
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
            outside = [use for use in uses if not is_in(use, own[name])]
            if own[name].decorator_list or any(not created or _may_create(use, syntax) for use in outside):
                found.add(name)
        elif name in imported:
            if not created or any(_may_create(use, syntax) for use in syntax.variables.named(name)):
                found.add(imported[name])
        elif star_imports:
            found.add(name)
    return frozenset(found | _named_by_strings(analysis))


def _may_create(use: ast.Name, syntax: SyntaxIndex) -> bool:
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


def _named_by_strings(analysis: FileAnalysis) -> set[str]:
    found = set()
    for node in analysis.syntax.of_type(ast.Constant):
        text = node.value
        if isinstance(text, str) and len(text) <= _LONGEST:
            matched = _CLASS_IN_TEXT.search(text)
            if matched is not None:
                found.add(matched.group(1))
    return found
