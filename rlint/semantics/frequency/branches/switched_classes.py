"""Classes that a file uses only if an option has some value, or if there are objects of another class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.branch_tests import BranchTests
from rlint.semantics.frequency.branches.class_registries import registry_entry
from rlint.semantics.frequency.branches.option_choices import Chooser, OptionChoice, option_of
from rlint.syntax.class_names import imported_originals, may_make_object, own_classes
from rlint.syntax.walk import is_in


def switched_classes(analysis: FileAnalysis) -> dict[str, tuple[tuple[OptionChoice, ...], ...]]:
    """Return the classes (own ones and imported ones, by their original names) that a file uses only under
    conditions, with the conditions around each use that may create objects.
    """
    syntax = analysis.syntax
    own = own_classes(syntax)
    imported = imported_originals(syntax)
    tests = BranchTests(syntax)
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
        choices = [tuple(_choices(use, tests, own, analysis)) for use in uses]
        if choices and all(choices):
            found[imported.get(name, name)] = tuple(choices)
    return found


def _choices(
    use: ast.Name, tests: BranchTests, own: dict[str, ast.ClassDef], analysis: FileAnalysis
) -> Iterator[OptionChoice]:
    """Yield the conditions under which a line runs."""
    for test, taken in tests.of(use):
        yield from _of_test(test, taken=taken)
    entry = registry_entry(use, analysis)
    if entry is not None:
        yield OptionChoice(Chooser.REGISTRY, entry[0], (entry[1],))
    around = analysis.syntax.class_of(use)
    if around is not None and own.get(around.name) is around and analysis.syntax.function(use) is not None:
        yield OptionChoice(Chooser.CLASS, around.name)


def _of_test(test: ast.expr, *, taken: bool) -> Iterator[OptionChoice]:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _of_test(operand, taken=not taken)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is taken:
            for value in values:
                yield from _of_test(value, taken=taken)
        case ast.Compare(
            left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            yield from _of_test(left, taken=isinstance(op, ast.IsNot) is taken)
        case ast.Compare(
            left=left, ops=[ast.Eq() | ast.Is() as op], comparators=[ast.Constant(value=bool(value))]
        ):
            yield from _of_test(left, taken=value is taken)
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            yield from _of_test(left, taken=taken)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            texts = _texts(right)
            is_one = isinstance(op, (ast.Eq, ast.In)) if taken else isinstance(op, (ast.NotEq, ast.NotIn))
            name = left.id if isinstance(left, ast.Name) else option_of(left)
            if texts and is_one and name:
                yield OptionChoice(Chooser.OPTION, name, texts)
        case ast.Name(id=name):
            yield OptionChoice(Chooser.OPTION, name, taken)
        case _ if option := option_of(test):
            yield OptionChoice(Chooser.OPTION, option, taken)


def _texts(compared: ast.expr) -> tuple[str, ...]:
    """Return a string, or those of a display that has nothing else."""
    parts = compared.elts if isinstance(compared, (ast.Tuple, ast.List, ast.Set)) else [compared]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return tuple(texts) if len(texts) == len(parts) else ()
