"""Queries about the tests of branches: which outcomes the program determines, by default or always."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.semantics.dataflow.termination import ends_program
from rlint.semantics.frequency.branches.branch_tests import LEAVING, BranchTests, Test
from rlint.semantics.frequency.branches.exclusive_settings import ExclusiveSettings
from rlint.semantics.frequency.branches.exploration import explores
from rlint.semantics.frequency.branches.off_calls import OffCalls
from rlint.semantics.frequency.branches.one_iteration import equals_count
from rlint.semantics.frequency.branches.settled_tests import SettledTests
from rlint.syntax.syntax_index import FUNCTIONS

if TYPE_CHECKING:
    from rlint.semantics.frequency.loops import AnyLoop
    from rlint.semantics.interprocedural.whole_program import WholeProgram
    from rlint.semantics.model import SemanticModel

_WARNINGS = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})
_LONGEST = 40
_MOST_CALLS = 2
"""Maximum number of calls between a line and the test that rules it out."""


class BranchQueries:
    """Answers whether the tests around code let it run, which lowers the impact of a finding but does not
    affect heat.
    """

    def __init__(self, model: SemanticModel, program: WholeProgram) -> None:
        self._model = model
        self._program = program.usage
        self._heat = program.heat
        self._leaving: dict[ast.stmt, int] = {}  # of blocks, by first statement

    def is_exploration(self, node: ast.AST) -> bool:
        """Whether a node runs only when an agent explores at random, which late in training is rare."""
        return any(explores(test, self._model, taken=taken) for test, taken in self._tests.of(node))

    def why_unreached(self, node: ast.AST) -> str:
        """Return why a node does not run, if a test around it, or around all calls of its function, always
        has the other outcome in this project: by constants, and by what all calls pass; or if a statement
        before it always leaves, or a class of warnings replaces the function. "" if it may run.
        """
        warning = self._warning_instead(node)
        if warning:
            return f"the decorator `{warning}` replaces it by a warning"
        return self._why_not_taken(node, self._settled, _MOST_CALLS, "always {} in this project")

    def why_off(self, node: ast.AST) -> str:
        """Return why a node does not run unless the user of the program sets an option: a test around it, or
        around all calls of its function or all uses of its class, fails by default. "" if it may run.
        """
        known = self._why_not_taken(node, self._by_default, _MOST_CALLS, f"{{}} {self._where}")
        if known:
            return known
        cls = self._model.symbols.class_at(node)
        known = self._program.why_off(cls) if cls is not None else ""
        function = self._model.symbols.function_at(node)
        return known or (self._off_calls.why(function) if function is not None else "")

    def why_off_at(self, call: ast.Call, node: ast.AST) -> str:
        """Return why a node of the function that a call runs does not run by default, given what the call
        passes; "" if it may run.
        """
        targets = self._model.types.call_targets(call)
        function = self._model.types.definition(targets[0]) if len(targets) == 1 else None
        if function is None:
            return ""
        settled = self._by_default.at_call(call, targets[0], function)
        return self._why_not_taken(node, settled, 0, f"{{}} {self._where}")

    def outcome(self, test: ast.expr) -> bool | None:
        """Return the outcome that a test always has in this project, by constants and by what all calls
        pass; None if it may have either.
        """
        return self._settled.outcome(test)

    def excludes(self, tests: Sequence[Test]) -> bool:
        """Whether the constructor of the class around some tests raises an error for the settings with which
        all of them have the given outcomes: `if self.graph and self.loss != "dreamer": raise`.
        """
        return self._exclusive.exclude(tests)

    def is_of_one_iteration(self, node: ast.AST, loop: AnyLoop) -> bool:
        """Whether a node runs in at most one iteration of a loop: the count must equal a value that does not
        change in the loop (`if i == self.index`).
        """
        qualified = self._model.names.qualified
        return any(equals_count(test, loop, qualified, taken=taken) for test, taken in self._tests.of(node))

    def tests_before(self, node: ast.AST) -> list[Test]:
        """Return the tests of its function on which a node depends, innermost first, each with the outcome
        that is needed.
        """
        return self._tests.of(node)

    def _why_not_taken(self, node: ast.AST, settled: SettledTests, depth: int, form: str) -> str:
        """Return why a node does not run, given the outcomes of tests; `form` says in words when a test has
        its outcome, which replaces `{}`.
        """
        for test, taken in self._tests.of(node):
            outcome = settled.outcome(test)
            if outcome is not None and outcome is not taken:
                always = form.format(str(outcome).lower())
                return f"`{self._shortened(test)}` is {always}{_chosen(test, settled)}"
        left = self._statement_that_leaves(node)
        if left is not None:
            return f"`{self._shortened(left)}` comes before it"
        function = self._model.symbols.function_at(node) if depth else None
        if function is None or not function.qualname:
            return ""
        calls = settled.calls_of(function)
        reasons = [self._why_not_taken(call, settled, depth - 1, form) for call in calls]
        return reasons[0] if reasons and all(reasons) else ""

    def _warning_instead(self, node: ast.AST) -> str:
        """Return the class of warnings that decorates a function or class around a node, "" if there is none:
        no decorator, it replaces what it decorates by a warning, which cannot be called.
        """
        return next(
            (
                decorator.id
                for each in self._model.syntax.ancestors(node)
                if isinstance(each, (*FUNCTIONS, ast.ClassDef))
                for decorator in each.decorator_list
                if isinstance(decorator, ast.Name) and decorator.id in _WARNINGS
            ),
            "",
        )

    def _statement_that_leaves(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement before a node that leaves a block around it in each case."""
        syntax = self._model.syntax
        for each in (node, *syntax.ancestors(node)):
            if isinstance(each, ast.stmt) and not isinstance(
                syntax.parents[each], (ast.match_case, ast.Module)
            ):
                block, place = syntax.block(each)
                found = self._first_that_leaves(block)
                if found < place:
                    return block[found]
        return None

    def _first_that_leaves(self, block: list[ast.stmt]) -> int:
        """Return the position of the first statement that leaves a block, or ends the program; its length if
        there is none.
        """
        known = self._leaving.get(block[0])
        if known is None:
            leaves = (isinstance(each, LEAVING) or ends_program(each) for each in block)
            places = (place for place, leaving in enumerate(leaves) if leaving)
            known = self._leaving[block[0]] = next(places, len(block))
        return known

    def _shortened(self, node: ast.AST) -> str:
        text = " ".join(self._model.source.text(node).split())
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    @cached_property
    def _where(self) -> str:
        return self._program.where_set(self._model.module.module)

    @property
    def _tests(self) -> BranchTests:
        return self._model.analysis.branch_tests

    @cached_property
    def _settled(self) -> SettledTests:
        return SettledTests(self._model, self._heat)

    @cached_property
    def _off_calls(self) -> OffCalls:
        return OffCalls(self._heat, self._program)

    @cached_property
    def _exclusive(self) -> ExclusiveSettings:
        return ExclusiveSettings(self._model, self._settled)

    @cached_property
    def _by_default(self) -> SettledTests:
        return SettledTests(self._model, self._heat, self._program)


def _chosen(test: ast.expr, settled: SettledTests) -> str:
    """Return the string that an option has by default where a test compares it with another one, as the end
    of a sentence: ": it is `uniform`"; "" for other tests.
    """
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In()]):
            values = settled.values_of(left) or frozenset()
            texts = sorted(value for value in values if isinstance(value, str) and value)
            return f": it is `{texts[0]}`" if len(texts) == 1 else ""
    return ""
