"""Queries about dataflow: definitions, changes between two places, repeated computation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from rlint.semantics.dataflow.common_subexpressions import CommonSubexpressions, Repetition
from rlint.semantics.dataflow.escape import EscapeAnalysis, ValueUse
from rlint.semantics.dataflow.evaluation_order import EvaluationOrder
from rlint.semantics.dataflow.mutation import Mutations
from rlint.semantics.dataflow.value_uses import Use, UsesAcrossFunctions, UsesOfValue
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_graph import CallEdge
from rlint.semantics.interprocedural.call_targets import parameter_of
from rlint.semantics.interprocedural.leaving_values import LeavingValues
from rlint.semantics.interprocedural.program_symbols import ProgramSymbols
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_types import TypeQueries
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import Function
from rlint.syntax.value_use import UseKind


class _Leaving:
    """The values that leave functions, computed on the first query. Separate from the queries, which would
    otherwise form a reference cycle and outlive their file.
    """

    def __init__(self, analysis: FileAnalysis, program: WholeProgram) -> None:
        self._analysis, self._program = analysis, program
        self._known: LeavingValues | None = None

    @property
    def symbols(self) -> ProgramSymbols:
        """Return the symbols of the whole program."""
        return self._program.program_symbols

    def values(self) -> LeavingValues:
        """Return the values that leave the functions of the file."""
        if self._known is None:
            self._known = LeavingValues(self._analysis, self._program.program_symbols)
        return self._known


class DataflowQueries:
    """Answers which definitions reach a place, what may change a value in between, and how a value is used.
    If the answer is not known, no value is said to be unchanged or repeated.
    """

    def __init__(self, analysis: FileAnalysis, program: WholeProgram, types: TypeQueries) -> None:
        self._analysis = analysis
        self._call_targets = types.call_targets
        self._syntax = analysis.syntax
        self.order = EvaluationOrder(analysis.syntax)
        """The evaluation order of the parts of expressions."""
        self._leaving = _Leaving(analysis, program)
        self._uses = EscapeAnalysis(analysis, self._leaving.values)
        self._changes = Mutations(analysis, self._uses)
        self._repeats = CommonSubexpressions(analysis.syntax, self._changes, self.order)

    def items_read(
        self, function: FunctionSummary, aliases: tuple[str, ...] = ()
    ) -> frozenset[int | str] | None:
        """Return the items of the tuple, and the fields of the object, that a function returns which any
        caller reads. None if a caller may read all of them, or if no caller is known. `aliases` are the
        attributes that hold the function as well.
        """
        sites = self._leaving.symbols.calls_that_receive(function, aliases)
        found: set[int | str] = set()
        for site in sites:
            if site.reads is None:
                return None
            found.update(site.reads)
        return frozenset(found) if sites else None

    def calls_of(self, function: FunctionSummary) -> list[CallEdge]:
        """Return the calls of the project, without those of tests, that run a function and no other; those
        of its own class also if other classes override it.
        """
        symbols = self._leaving.symbols
        owner, found = function.qualname.rpartition(".")[0], []
        for edge in symbols.graph.callers(function.path):
            targets = [each for each in symbols.graph.calls(edge.caller.path) if each.site is edge.site]
            is_own = bool(owner) and edge.caller.qualname.rpartition(".")[0] == owner
            is_meant = is_own or (len(targets) == 1 and not edge.guessed)
            if is_meant and not symbols.index.modules[edge.caller.module].is_test:
                found.append(edge)
        return found

    def definitions(self, name: ast.Name) -> list[Binding]:
        """Return the bindings whose value a name may have at its position; never too few."""
        return self._analysis.definitions.reaching(name)

    def keeps(self, name: ast.Name, first: ast.AST, second: ast.AST) -> bool:
        """Whether a variable is never rebound after `first` and before `second`. The same bindings may reach
        both places although one of them runs in between, in a loop. False in doubt.
        """
        return self._analysis.definitions.keeps(name, first, second)

    def bindings_before(self, name: str, node: ast.AST, scope: Scope) -> list[Binding]:
        """Return the bindings of a variable that may hold when the statement of `node` begins."""
        return self._analysis.definitions.before(name, self._syntax.statement(node), scope)

    def between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """Return the statements and expressions that may run after `first` and before `second`; None if
        `first` does not always run before `second`.
        """
        return self._analysis.definitions.between(first, second)

    def unchanged_between(self, expression: ast.expr, first: ast.AST, second: ast.AST) -> bool:
        """Whether `expression` always has the same value at `second` as at `first`. False in doubt."""
        put_off = self.order.is_put_off(second, first)
        return not put_off and self._changes.unchanged_between(expression, first, second)

    def doubts_between(
        self, expression: ast.expr, first: ast.AST, second: ast.AST
    ) -> tuple[ast.AST, ...] | None:
        """Return what could change the value of `expression` between the two places only through an
        alias, or in a function that it is not passed to. None if it may change in other ways.
        """
        if self.order.is_put_off(second, first):
            return None
        return self._changes.doubts_between(expression, first, second)

    def doubts_within(self, expression: ast.expr, parts: Iterable[ast.AST]) -> tuple[ast.AST, ...] | None:
        """Return the nodes that run within some statements, besides `expression`, and could change its value
        only indirectly. None if it may change in other ways.
        """
        return self._changes.doubts_within(expression, parts)

    def equal_to(self, call: ast.expr) -> list[ast.expr]:
        """Return the calls of the same function with the same source as this one, itself included, in the
        order of evaluation. Whether they return the same value is not considered.
        """
        return self._repeats.equal_to(call)

    def repetition(self, expression: ast.expr) -> Repetition | None:
        """Return the calls (or comprehensions) of the same function with the same source, that are evaluated
        after it with the same arguments, and only if it was evaluated; None if there are none.
        """
        return self._repeats.repetition(expression)

    def repeated(self, expression: ast.expr) -> Repetition | None:
        """Return the repetition that contains this expression as a later evaluation."""
        return self._repeats.repeated(expression)

    def use_of(self, expression: ast.expr) -> ValueUse:
        """Return how an expression's value is used: read, kept or mutated, and whether it is computed
        with.
        """
        return self._uses.of(expression)

    def uses(self, expression: ast.expr, through: frozenset[UseKind] = frozenset()) -> list[Use]:
        """Return all uses of an expression's value, through the variables that hold it; also of the results
        of the kinds of uses in `through`: with METHOD, the uses of `x.float().view(-1)` are uses of `x`, too.
        If the value can no longer be followed, the list includes a use with a `cause`.
        """
        return UsesOfValue(self._analysis, lambda use: use.kind in through).uses(expression)

    def uses_across_functions(self, expression: ast.expr, follows: Callable[[Use], bool]) -> list[Use]:
        """Return the uses of an expression's value in the whole file: also in functions that it is passed to
        or returned to, and where an attribute that holds it is read. `follows` decides whether the result of
        a use (that of a call, the items of a loop) is followed as well.
        """
        walk = UsesAcrossFunctions(self._analysis, follows, self._leaving.values(), self._functions_given)
        return walk.uses(expression)

    def _functions_given(self, call: ast.Call, argument: ast.AST) -> Iterator[tuple[Function, str]]:
        """Yield the functions of this file that a call may run, with the parameter that the argument goes
        to.
        """
        for target in self._call_targets(call):
            parameter = parameter_of(argument, call, target)
            function = self._analysis.definition(target)
            if function is not None and parameter is not None:
                yield function, parameter

    def is_given_up(self, expression: ast.expr) -> bool:
        """Whether an expression occurs too often in its function to be compared with the others."""
        return self._repeats.is_given_up(expression)
