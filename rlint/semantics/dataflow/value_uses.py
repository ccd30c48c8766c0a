"""All uses of a value, for rules that decide on each use what it means."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from rlint import models
from rlint.frozen import frozen
from rlint.semantics.dataflow.value_flow import Beyond, Cause, Onward, ValueFlow
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.assignments import targets_of
from rlint.syntax.syntax_index import Function
from rlint.syntax.value_use import SyntacticUse, UseKind


@frozen
class Use:
    """One use of a followed value. `node` is the expression (or keyword) that has the value, `at` what uses
    it: the call, attribute, subscript or statement. `cause` says why the value could not be followed further,
    if so.
    """

    kind: UseKind
    node: ast.AST
    at: ast.AST
    cause: Cause | None = None


class UsesOfValue(ValueFlow[Use]):
    """Collects every use of a value; names, conditional expressions and containers that only carry it are no
    uses. The result of a use is followed as well, after the use itself, if `follows` returns True.
    """

    def __init__(
        self, analysis: FileAnalysis, follows: Callable[[Use], bool], beyond: Beyond | None = None
    ) -> None:
        super().__init__(analysis, {}, {}, beyond)
        self._follows = follows

    def uses(self, expression: ast.expr) -> list[Use]:
        """Return all uses, in the order of the walk."""
        return [sink.label for sink in self.of(expression)]

    def give_up(self, node: ast.AST, cause: Cause) -> None:
        """Note where the value is lost sight of, and why."""
        self.reach(node, Use(UseKind.OTHER, node, node, cause))

    def _use(self, use: SyntacticUse) -> None:
        unpacked = use.kind is UseKind.ELEMENT and targets_of(use.node, self.syntax.parents)
        leaves = use.kind is UseKind.RETURNED and self.beyond is not None
        if unpacked or leaves or use.kind in _CARRIES:
            super()._use(use)
            return
        same = use.kind is UseKind.ARGUMENT and self._gives_back(use.at)
        here = Use(use.kind, use.node, use.at)
        if not same:
            self.reach(use.at, here)
        if use.kind is UseKind.ITERATED and self._follows(here):
            super()._use(use)
        elif same or self._follows(here):
            self.follow(use.at)

    def _gives_back(self, call: ast.AST) -> bool:
        """Whether a function returns the very object that is passed to it."""
        return isinstance(call, ast.Call) and self.analysis.names.qualified(call.func) in models.GIVES_BACK


class UsesAcrossFunctions(UsesOfValue):
    """Collects the uses of a value also in the functions of the file that it is passed to, that get it from
    the function that returns it, or that read it from an attribute. Uses in other files are not seen.
    """

    def __init__(
        self,
        analysis: FileAnalysis,
        follows: Callable[[Use], bool],
        beyond: Beyond,
        callees: Callable[[ast.Call, ast.AST], Iterable[tuple[Function, str]]],
    ) -> None:
        super().__init__(analysis, follows, beyond)
        self._callees = callees

    def may_continue(self, node: ast.AST, onward: Onward) -> bool:
        """Whether any place is known at which the value continues."""
        super().may_continue(node, onward)
        return bool(onward.nodes)

    def _use(self, use: SyntacticUse) -> None:
        if use.kind is UseKind.ARGUMENT and isinstance(use.at, ast.Call):
            for function, parameter in self._callees(use.at, use.node):
                self.enter(use.at, function, parameter)
        super()._use(use)


_CARRIES = frozenset({UseKind.SAME, UseKind.BOUND, UseKind.BOUND_AND_SAME})
