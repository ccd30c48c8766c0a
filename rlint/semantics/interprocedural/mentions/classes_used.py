"""Names of the classes that a file uses, other than by defining or importing them."""

from __future__ import annotations

import ast

from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.class_names import class_in_text, imported_originals, may_make_object, own_classes
from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import descendants, is_in


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
    decorated = {name for name, cls in own.items() if cls.decorator_list}  # which may register the class
    exported = _exported(syntax)
    named = _named_by_strings(syntax)
    used = set(named)
    created = decorated | {name for name, texts in named.items() if not exported.issuperset(texts)}
    for name in syntax.variables.names:
        if name.islower() or not (name in own or name in imported or star_imports):
            continue
        uses = syntax.variables.named(name)
        may_create = name not in own and name not in imported
        if name in own:
            uses = [use for use in uses if not is_in(use, own[name])]
            may_create = name in decorated
            if not (uses or may_create):
                continue
        original = name if name in own else imported.get(name, name)
        used.add(original)
        if may_create or any(may_make_object(use, syntax) for use in uses):
            created.add(original)
    return frozenset(used), frozenset(created)


def _named_by_strings(syntax: SyntaxIndex) -> dict[str, list[ast.Constant]]:
    """Return the names of classes in strings, each with the strings."""
    found: dict[str, list[ast.Constant]] = {}
    for node in syntax.of_type(ast.Constant):
        if isinstance(node.value, str) and (name := class_in_text(node.value)) is not None:
            found.setdefault(name, []).append(node)
    return found


def _exported(syntax: SyntaxIndex) -> set[ast.AST]:
    """Return the strings in `__all__`, which create nothing."""
    statements = (syntax.parents[use] for use in syntax.variables.named("__all__"))
    return {
        node
        for statement in statements
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None
        for node in descendants(statement.value)
    }
