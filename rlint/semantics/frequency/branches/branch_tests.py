"""The tests that decide whether a line of a function runs."""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterator

from rlint.syntax.queries import deciding_tests
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

Test = tuple[ast.expr, bool]
"""A test, and the outcome that is needed."""
_MOST_TESTS = 40
LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements that leave their block."""
_BOUNDARIES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)


class BranchTests:
    """The tests around the nodes of one file."""

    def __init__(self, syntax: SyntaxIndex) -> None:
        self._syntax = syntax
        self._known: dict[ast.AST, list[Test]] = {}
        self._leaving: dict[ast.stmt, tuple[list[int], list[Test]]] = {}  # of blocks, by first statement

    def of(self, node: ast.AST) -> list[Test]:
        """Return the tests of its function on which a node depends, innermost first: those of the branches
        around it, and those of earlier branches that leave its block.
        """
        path: list[ast.AST] = []
        outer: ast.AST | None = node
        while outer is not None and outer not in self._known:
            path.append(outer)
            outer = None if isinstance(outer, _BOUNDARIES) else self._syntax.parents.get(outer)
        known = [] if outer is None else self._known[outer]
        for each in reversed(path):
            own = list(itertools.islice(self._own_tests(each), _MOST_TESTS))
            known = self._known[each] = [*own, *known][:_MOST_TESTS] if own else known
        return known

    def _own_tests(self, child: ast.AST) -> Iterator[Test]:
        """Yield the tests on which a node depends and its parent does not."""
        parent = self._syntax.parents.get(child)
        if parent is None:
            return
        if isinstance(child, ast.stmt):
            yield from self._left_before(child)
        if isinstance(child, _BOUNDARIES):
            return
        if isinstance(parent, ast.match_case) and child in parent.body:
            yield from self._matched(parent)
        if isinstance(parent, ast.While) and child in parent.body:
            yield parent.test, True
        yield from deciding_tests(child, parent)

    def _matched(self, case: ast.match_case) -> Iterator[Test]:
        """Yield the comparison that a case of constants makes: `strategy == "entropy"`."""
        match = self._syntax.parents[case]
        patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        values = [pattern.value for pattern in patterns if isinstance(pattern, ast.MatchValue)]
        if not isinstance(match, ast.Match) or not values or len(values) != len(patterns):
            return
        if case.guard is not None:
            yield case.guard, True
        operator = ast.Eq() if len(values) == 1 else ast.In()
        compared = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
        test = ast.Compare(match.subject, [operator], [compared])
        yield ast.copy_location(test, case.pattern), True

    def _left_before(self, statement: ast.stmt) -> list[Test]:
        if isinstance(self._syntax.parents[statement], (ast.match_case, ast.Module)):
            return []
        block, place = self._syntax.block(statement)
        if block[0] not in self._leaving:
            leaving = [(index, test) for index, each in enumerate(block) for test in _unless_left(each)]
            self._leaving[block[0]] = [index for index, _ in leaving], [test for _, test in leaving]
        places, tests = self._leaving[block[0]]
        return tests[: bisect_left(places, place)][:_MOST_TESTS]


def _unless_left(statement: ast.stmt) -> Iterator[Test]:
    if isinstance(statement, ast.If):
        if isinstance(statement.body[-1], LEAVING):
            yield statement.test, False
        elif statement.orelse and isinstance(statement.orelse[-1], LEAVING):
            yield statement.test, True


def is_connective(test: ast.expr) -> bool:
    """Whether a test is `not …`, `… and …` or `… or …`."""
    return isinstance(test, ast.BoolOp) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def outcome_of_connective(test: ast.expr, outcome: Callable[[ast.expr], bool | None]) -> bool | None:
    """Return the outcome of such a test by those of its parts; None if they do not determine it."""
    if isinstance(test, ast.UnaryOp):
        found = outcome(test.operand)
        return None if found is None else not found
    assert isinstance(test, ast.BoolOp)
    outcomes = [outcome(value) for value in test.values]
    decisive = isinstance(test.op, ast.Or)
    if decisive in outcomes:
        return decisive
    return None if None in outcomes else not decisive
