"""Combinations of settings for which a constructor raises an error."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlint.semantics.frequency.branches.branch_tests import Test, is_connective, outcome_of_connective
from rlint.semantics.frequency.branches.settled_tests import SettledTests

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

Facts = dict[str, bool]
"""The outcomes of comparisons of settings, by their source without `not` and `!=`."""
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
_DEPTH = 4
"""Maximum number of settings that are followed to the settings that they are computed from."""


class ExclusiveSettings:
    """The combinations that the constructors of one file rule out."""

    def __init__(self, model: SemanticModel, settled: SettledTests) -> None:
        self._model = model
        self._settled = settled

    def exclude(self, tests: Sequence[Test]) -> bool:
        """Whether the constructor of the class around some tests raises an error if all of them have these
        outcomes.
        """
        cls = self._model.class_of(tests[0][0]) if tests else None
        maker = self._model.method(cls, "__init__") if cls is not None else None
        if maker is None:
            return False
        facts: Facts = {}
        for test, outcome in tests:
            for part, holds in self._implied(test, _DEPTH, outcome=outcome):
                facts.setdefault(part, holds)
        for statement in maker.body:
            match statement:
                case ast.If(test=test, body=[*_, ast.Raise()]) if self._outcome(test, facts) is True:
                    return True
                case ast.Assert(test=test) if self._outcome(test, facts) is False:
                    return True
        return False

    def _implied(self, test: ast.expr, depth: int, *, outcome: bool) -> Iterator[tuple[str, bool]]:
        """Yield what must hold for a test to have an outcome."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._implied(operand, depth, outcome=not outcome)
            case ast.BoolOp(op=op, values=values):
                if isinstance(op, ast.And) is outcome:
                    for value in values:
                        yield from self._implied(value, depth, outcome=outcome)
            case _ if self._is_of_settings(test):
                key, same = _plain(test)
                yield key, outcome is same
                stored = self._settled.stored_values(test) if isinstance(test, ast.Attribute) else []
                if len(stored) == 1 and depth:
                    yield from self._implied(stored[0], depth - 1, outcome=outcome)

    def _is_of_settings(self, test: ast.expr) -> bool:
        """Whether a test reads nothing but constants and settings of the object."""
        return all(
            isinstance(part, (ast.Constant, ast.expr_context, ast.cmpop, ast.Compare, ast.Tuple, ast.List))
            or (isinstance(part, ast.Name) and self._model.names.is_self(part))
            or (isinstance(part, ast.Attribute) and self._model.types.is_setting(part))
            for part in ast.walk(test)
        )

    def _outcome(self, test: ast.expr, facts: Facts) -> bool | None:
        """Return the outcome of a test, given those of others; None if they do not determine it."""
        if is_connective(test):
            return outcome_of_connective(test, lambda part: self._outcome(part, facts))
        key, same = _plain(test)
        known = facts.get(key)
        return None if known is None else known is same


def _plain(test: ast.expr) -> tuple[str, bool]:
    """Return a test without a negated comparison, and whether it has the same outcome."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=comparators) if type(op) in _OPPOSITE:
            return ast.dump(ast.Compare(left, [_OPPOSITE[type(op)]()], comparators)), False
    return ast.dump(test), True
