"""Classes that a file uses only if an option has some value, or if there are objects of another class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.class_registries import registry_entry
from rlint.semantics.frequency.branches.option_choices import Chooser, OptionChoice, choices_of
from rlint.syntax.class_names import imported_originals, may_make_object, own_classes
from rlint.syntax.walk import is_in


def switched_classes(analysis: FileAnalysis) -> dict[str, tuple[tuple[OptionChoice, ...], ...]]:
    """Return the classes (own ones and imported ones, by their original names) that a file uses only under
    conditions, with the conditions around each use that may create objects.
    """
    syntax = analysis.syntax
    own = own_classes(syntax)
    imported = imported_originals(syntax)
    found: dict[str, tuple[tuple[OptionChoice, ...], ...]] = {}
    for name in syntax.variables.names:
        is_decorated = name in own and bool(own[name].decorator_list)  # by what may register the class
        if name.islower() or is_decorated or not (name in own or name in imported):
            continue
        uses = [
            use
            for use in syntax.variables.named(name)
            if isinstance(use.ctx, ast.Load)
            and not (name in own and is_in(use, own[name]))
            and may_make_object(use, syntax)
        ]
        choices = [tuple(_choices(use, own, analysis)) for use in uses]
        if choices and all(choices):
            found[imported.get(name, name)] = tuple(choices)
    return found


def _choices(use: ast.Name, own: dict[str, ast.ClassDef], analysis: FileAnalysis) -> Iterator[OptionChoice]:
    """Yield the conditions under which a line runs."""
    for test, taken in analysis.branch_tests.of(use):
        yield from choices_of(test, taken=taken)
    entry = registry_entry(use, analysis)
    if entry is not None:
        yield OptionChoice(Chooser.REGISTRY, entry[0], (entry[1],))
    around = analysis.syntax.class_of(use)
    if around is not None and own.get(around.name) is around and analysis.syntax.function(use) is not None:
        yield OptionChoice(Chooser.CLASS, around.name)
