"""Queries about the use of code: whether training runs it at all, and whether the program reads errors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.semantics.dataflow.immutability import is_construction
from rlint.semantics.effects.purity import Purity
from rlint.semantics.effects.shown_values import ShownValues
from rlint.semantics.interprocedural.summary import COLLECTS_WARNINGS, RAISES_WARNINGS
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary
    from rlint.semantics.interprocedural.whole_program import WholeProgram
    from rlint.semantics.model import SemanticModel

_COLLECT = (COLLECTS_WARNINGS, "captureWarnings", "seterrcall", "showwarning")


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
        classes of its file; or of a method that no code calls but tests, though scripts use its class or
        train without it, or that a later definition in the class replaces.
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

    def why_left_out(self, node: ast.AST) -> str:
        """Return in words that no script of the project reaches the function or class around a node, though
        scripts use others of its file, of its package, or of the folders beside that. "" otherwise.
        """
        function = self._model.symbols.function_at(node)
        name = function.qualname.partition(".")[0] if function is not None else ""
        module = self._model.symbols.module.module
        if not name or not self._program.is_unreached(module, name):
            return ""
        is_loaded = self._program.is_loaded(module)
        return f"no script of this project {'uses it' if is_loaded else f'reaches `{module}`'}"

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

    def phase(self, node: ast.AST) -> str:
        """Return in words the phase of a run in which a node runs, if it does not run in each step: only at
        the beginning, under a condition such as `step < learning_starts`, in a loop before the main loop, or
        while a counter runs down to zero; or only after the training. "" for all other nodes.
        """
        place = self._model.frequency.place(node)
        if place is None:
            return ""
        if self._heat.is_beginning(place):
            return "in the first steps of a training"
        is_after = self._heat.is_after_training(place, getattr(node, "lineno", 0))
        return "after the training" if is_after else ""

    def is_in_real_time(self, node: ast.AST) -> bool:
        """Whether a node runs only in loops that wait for the clock in each iteration: those of a window with
        a frame rate, or of a robot.
        """
        place = self._model.frequency.place(node)
        return place is not None and self._heat.is_in_real_time(place)

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
