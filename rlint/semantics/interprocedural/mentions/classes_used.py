"""Names of the classes that a file uses, other than by defining or importing them."""

from __future__ import annotations

import ast

from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.class_names import class_in_text, imported_originals, own_classes
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import is_in

_TESTS_CLASS = frozenset({"isinstance", "issubclass", "super", "cast"})
_TYPES = (ast.arg, ast.AnnAssign, *FUNCTIONS)
"""Nodes with annotations."""


def classes_used(
    analysis: FileAnalysis, star_imports: tuple[str, ...]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the last names of all classes of the project that a file may use (its own outside of their
    bodies, imported ones by their original names, and those that strings name), and of those of which it may
    create objects: not only by uses as a base, as an annotation, or in tests of the class. Left out are
    attributes (`module.Class`), and names in lower case.
    """
    syntax = analysis.syntax
    own = own_classes(syntax)
    imported = imported_originals(syntax)
    used = _named_by_strings(syntax)
    created = set(used)
    for name in syntax.variables.names:
        if name.islower() or not (name in own or name in imported or star_imports):
            continue
        uses = syntax.variables.named(name)
        may_create = name not in own and name not in imported
        if name in own:
            uses = [use for use in uses if not is_in(use, own[name])]
            may_create = bool(own[name].decorator_list)  # which may register the class
            if not (uses or may_create):
                continue
        original = name if name in own else imported.get(name, name)
        used.add(original)
        if may_create or any(_may_create(use, syntax) for use in uses):
            created.add(original)
    return frozenset(used), frozenset(created)


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


def _named_by_strings(syntax: SyntaxIndex) -> set[str]:
    texts = (node.value for node in syntax.of_type(ast.Constant) if isinstance(node.value, str))
    return {name for text in texts if (name := class_in_text(text)) is not None}
