"""Queries about the use of code: whether training runs it at all, and whether the program reads errors."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.semantics.dataflow.immutability import is_construction
from rlint.semantics.effects.purity import Purity
from rlint.semantics.effects.shown_values import ShownValues
from rlint.semantics.frequency.branches.branch_tests import BranchTests, Test
from rlint.semantics.frequency.branches.exclusive_settings import ExclusiveSettings
from rlint.semantics.frequency.branches.exploration import explores
from rlint.semantics.frequency.branches.settled_tests import SettledTests
from rlint.semantics.interprocedural.summary import COLLECTS_WARNINGS, RAISES_WARNINGS
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary
    from rlint.semantics.interprocedural.whole_program import WholeProgram
    from rlint.semantics.model import SemanticModel

_COLLECT = (COLLECTS_WARNINGS, "captureWarnings", "seterrcall", "showwarning")
_LONGEST = 40
_MOST_CALLS = 2
"""Maximum number of calls between a line and the test that rules it out."""


class UsageQueries:
    """Answers whether code that is hot by its place is used in training, which lowers the impact of a finding
    but does not affect heat; and whether errors are read, its values shown or its calls counted.
    """

    def __init__(self, model: SemanticModel, program: WholeProgram) -> None:
        self._model = model
        self._program = program.usage
        self._symbols = program.program_symbols
        self._heat = program.heat
        self._purity = Purity(program.index)

    def is_in_construction(self, node: ast.AST) -> bool:
        """Whether a node is in a constructor, or in a function that only constructors call."""
        summary = self._model.symbols.function_at(node)
        return summary is not None and is_construction(summary, self._heat)

    def is_unused(self, node: ast.AST) -> bool:
        """Whether a node is part of a class that no code of the project uses, though other files use other
        classes of its file; or of a method that no code calls, though scripts use its class, or that a later
        definition in the class replaces.
        """
        cls = self._model.symbols.class_at(node)
        if cls is not None and "." not in cls.qualname and self._program.is_unused(cls):
            return True
        if self._is_replaced(node):
            return True
        function = self._model.symbols.function_at(node)
        return function is not None and self._program.is_uncalled(function)

    def _is_replaced(self, node: ast.AST) -> bool:
        """Whether a class defines a method around a node again, without a decorator that keeps both."""
        method = self._model.function(node)
        owner = self._model.class_of(node)
        if method is None or owner is None or method.decorator_list or method not in owner.body:
            return False
        later = owner.body[owner.body.index(method) + 1 :]
        return any(
            isinstance(each, FUNCTIONS) and each.name == method.name and not each.decorator_list
            for each in later
        )

    def is_unreached(self, node: ast.AST) -> bool:
        """Whether a node is part of a function or class that no script of the project reaches, though scripts
        use others of its file or package.
        """
        function = self._model.symbols.function_at(node)
        name = function.qualname.partition(".")[0] if function is not None else ""
        return bool(name) and self._program.is_unreached(self._model.symbols.module.module, name)

    def call_sites(self, node: ast.AST) -> list[tuple[FunctionSummary, CallSite]]:
        """Return the functions of the project, without tests, that call the function around a node, each with
        the call.
        """
        function = self._model.symbols.function_at(node)
        if function is None:
            return []
        return [
            (edge.caller, edge.site)
            for edge in self._heat.graph.callers(function.path)
            if not self._heat.index.modules[edge.caller.module].is_test
        ]

    def reads_errors(self) -> bool:
        """Whether code of the program of this file, tests included, may read the text of an error as a value:
        by a handler or `__exit__` that uses it, or a function that shows errors, wherever that runs.
        """
        return self._symbols.reads_errors(self._model.symbols.module.module)

    def is_shown(self, node: ast.AST) -> bool:
        """Whether code of the program may print, format or log the very value of an expression, or read its
        `grad_fn`, so that the operation that creates a tensor can be observed.
        """
        return node in self._shown.nodes

    def collects_warnings(self, *, or_raises: bool = False) -> bool:
        """Whether the program of this file keeps or logs warnings, or shows each floating-point error; with
        `or_raises`, also whether it turns warnings into errors.
        """
        names = (*_COLLECT, RAISES_WARNINGS) if or_raises else _COLLECT
        return self._symbols.program_names(names, self._model.symbols.module.module)

    def read_by_called(self, functions: Iterable[FunctionSummary]) -> frozenset[str]:
        """Return the names of attributes and imports that the files read in which some functions are defined,
        and those that they call.
        """
        return self._symbols.read_by_called(functions)

    @cached_property
    def _shown(self) -> ShownValues:
        names = self._symbols.shown_in_other_files(self._model.symbols.module.module)
        return ShownValues(self._model.analysis, names)

    def is_counted(self, expression: ast.AST) -> bool:
        """Whether the program reads how often its cached functions are called (`cache_info()`), and
        evaluating an expression calls one.
        """
        if not self._model.program.mentions("cache_info"):
            return False
        calls = (node for node in descendants(expression) if isinstance(node, ast.Call))
        return any(
            self._purity.remembers(target)
            for call in calls
            for target in self._model.types.call_targets(call)
        )

    def is_evaluation(self, node: ast.AST) -> bool:
        """Whether a node runs only in evaluations and demonstrations of a trained policy, which take no
        gradient step: in functions and scripts that evaluate, judging by their names, in functions that only
        these call, or in a loop that renders and does not learn. Most code that is slow in training is as
        slow in evaluation, but evaluations are rare.
        """
        place = self._model.frequency.place(node)
        return place is not None and self._heat.is_evaluation(place)

    def ways_from_training(self, node: ast.AST) -> list[tuple[str, ...]]:
        """Return the call paths to a node from the loops that take gradient steps: the functions entered on
        each, the loop's first and the node's last.
        """
        place = self._model.frequency.place(node)
        return self._heat.ways_from_training(place) if place is not None else []

    def calls_leading_to(self, node: ast.AST) -> frozenset[tuple[str, str]]:
        """Return the calls on all known paths to a node: the paths of the caller and of the function that it
        calls. Empty if no call of its function is known.
        """
        place = self._model.frequency.place(node)
        return self._heat.calls_leading_to(place) if place is not None else frozenset()

    def is_exploration(self, node: ast.AST) -> bool:
        """Whether a node runs only when an agent explores at random, which late in training is rare."""
        return any(explores(test, self._model, taken=taken) for test, taken in self._tests.of(node))

    def why_unreached(self, node: ast.AST) -> str:
        """Return why a node does not run, if a test around it, or around all calls of its function, always
        has the other outcome in this project: by constants, and by what all calls pass. "" if it may run.
        """
        return self._why_not_taken(node, self._settled, _MOST_CALLS, "always {} in this project")

    def why_off(self, node: ast.AST) -> str:
        """Return why a node does not run unless the user of the program turns an option on: a test around it,
        or around all calls of its function or all uses of its class, fails by default. "" if it may run.
        """
        known = self._why_not_taken(node, self._by_default, _MOST_CALLS, "{} by default")
        if known:
            return known
        cls = self._model.symbols.class_at(node)
        option = self._program.why_off(cls) if cls is not None else ""
        return f"`{option}` is off by default" if option else ""

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

    def tests_before(self, node: ast.AST) -> list[Test]:
        """Return the tests of its function on which a node depends, innermost first, each with the outcome
        that is needed.
        """
        return self._tests.of(node)

    def may_be_called_unseen(self, node: ast.AST) -> bool:
        """Whether code outside of the project may call the function around a node: a package exports it or
        its class, or code looks up names that are known only at run time.
        """
        function = self._model.symbols.function_at(node)
        return function is None or self._program.may_be_called_unseen(function)

    def is_overridden(self, node: ast.AST) -> bool:
        """Whether a node is part of a method that all classes of the project override of which objects are
        created.
        """
        function = self._model.symbols.function_at(node)
        return function is not None and function.is_method and self._program.is_overridden(function)

    def _why_not_taken(self, node: ast.AST, settled: SettledTests, depth: int, form: str) -> str:
        """Return why a node does not run, given the outcomes of tests; `form` says in words when a test has
        its outcome, which replaces `{}`.
        """
        for test, taken in self._tests.of(node):
            outcome = settled.outcome(test)
            if outcome is not None and outcome is not taken:
                text = " ".join(self._model.source.text(test).split())
                shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
                return f"`{shown}` is {form.format(str(outcome).lower())}"
        function = self._model.symbols.function_at(node) if depth else None
        if function is None or not function.qualname:
            return ""
        calls = settled.calls_of(function)
        reasons = [self._why_not_taken(call, settled, depth - 1, form) for call in calls]
        return reasons[0] if reasons and all(reasons) else ""

    @cached_property
    def _tests(self) -> BranchTests:
        return BranchTests(self._model.syntax)

    @cached_property
    def _settled(self) -> SettledTests:
        return SettledTests(self._model, self._heat)

    @cached_property
    def _exclusive(self) -> ExclusiveSettings:
        return ExclusiveSettings(self._model, self._settled)

    @cached_property
    def _by_default(self) -> SettledTests:
        return SettledTests(self._model, self._heat, self._program)
