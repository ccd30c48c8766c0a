"""Classes that a file uses only if an option is on, or off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models import vocabulary
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.branch_tests import BranchTests
from rlint.semantics.frequency.branches.declared_options import Choices
from rlint.syntax.class_names import imported_originals, own_classes
from rlint.syntax.last_names import last_name
from rlint.syntax.walk import is_in


def switched_classes(analysis: FileAnalysis) -> dict[str, tuple[Choices, ...]]:
    """Return the classes (own ones and imported ones, by their original names) that a file uses only under
    conditions on options, with the options around each use.
    """
    syntax = analysis.syntax
    own = own_classes(syntax)
    imported = imported_originals(syntax)
    tests = BranchTests(syntax)
    found: dict[str, tuple[Choices, ...]] = {}
    for name in syntax.variables.names:
        if name.islower() or not (name in own or name in imported):
            continue
        uses = [
            use
            for use in syntax.variables.named(name)
            if isinstance(use.ctx, ast.Load) and not (name in own and is_in(use, own[name]))
        ]
        choices = [tuple(_choices(use, tests)) for use in uses]
        if choices and all(choices):
            found[imported.get(name, name)] = tuple(choices)
    return found


def _choices(use: ast.AST, tests: BranchTests) -> Iterator[tuple[str, bool]]:
    """Yield the options that decide whether a line runs, and whether each must be on."""
    for test, taken in tests.of(use):
        yield from _of_test(test, taken=taken)


def _of_test(test: ast.expr, *, taken: bool) -> Iterator[tuple[str, bool]]:
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
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
        ):
            words = (last_name(owner) or "").lower().strip("_").split("_")
            if not vocabulary.OPTIONS.isdisjoint(words) or last_name(owner) == "self":
                yield name, taken
        case ast.Name(id=name):
            yield name, taken
