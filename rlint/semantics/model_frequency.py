"""Queries about frequency: how often code runs, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from rlint.findings import Heat
from rlint.models import vocabulary
from rlint.semantics.dataflow.varying_arguments import takes_loop_items
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.answer import COLD, Frequency, Granularity
from rlint.semantics.frequency.cadence import Cadence
from rlint.semantics.frequency.callers import CodePlace
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.frequency.looped_calls import is_called_in_loops
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.frequency.nested_calls import loops_at_calls
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import is_in


class FrequencyQueries:
    """Answers how often a node runs in a training run. Code that is not known to run often is cold."""

    def __init__(
        self,
        analysis: FileAnalysis,
        program: WholeProgram,
        names: NameQueries,
        symbols: FileSymbols,
        dataflow: DataflowQueries,
    ) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._heat = program.heat
        self._names = names
        self._symbols = symbols
        self._dataflow = dataflow
        self._heats: dict[ast.AST, Frequency] = {}
        self._loops_at_calls: dict[str, int] = {}
        self._warm_nodes: dict[type[ast.AST], list[ast.AST]] = {}

    def heat_of(self, node: ast.AST) -> Frequency:
        """Return how often a node runs, and the call chain that explains it."""
        known = self._heats.get(node)
        if known is None:
            # parts that run as often as the whole
            whole = self._syntax.wholes.of(node) if node not in self._syntax.buried else node
            known = self._heats.get(whole)
            if known is None:
                known = self._heats[whole] = self._heat_of(whole)
            self._heats[node] = known
        return known

    def _heat_of(self, node: ast.AST) -> Frequency:
        if (wrapper := self._transforms_steps(node)) is not None:
            chain = (f"the lambda of `{wrapper}` (runs in each environment step)",)
            return Frequency(Heat.HOT, chain, Granularity.STEP)
        written = self._heat_where_written(node)
        called = [self.heat_of(call) for call in self._calls_of_lambda(node)]
        return max(written, *called, key=lambda frequency: frequency.level) if called else written

    def _lambda_around(self, node: ast.AST) -> ast.Lambda | None:
        if not self._syntax.of_type(ast.Lambda):
            return None
        return next((part for part in self._syntax.ancestors(node) if isinstance(part, ast.Lambda)), None)

    def _transforms_steps(self, node: ast.AST) -> str | None:
        """Return the wrapper of an environment that calls the lambda around a node in each step."""
        made = self._lambda_around(node)
        match self._syntax.parents[made] if made is not None else None:
            case ast.Call(func=func, args=[_, given, *_]) if given is made:
                name = last_name(func)
                return name if name in vocabulary.TRANSFORMS_STEPS else None
        return None

    def _calls_of_lambda(self, node: ast.AST) -> list[ast.Call]:
        """Return the calls in this file of the lambda around a node, if a name, an attribute or an item of a
        dict holds it (`to_device = lambda x: …`, also one of two), or if it is mapped at once: `map(lambda x:
        …, batch)`.
        """
        made = self._lambda_around(node)
        if made is None:
            return []
        match self._syntax.parents[made]:
            case ast.Call(func=func, args=[first, *_]) as call if (
                first is made and last_name(func) in vocabulary.MAPS_PARTS
            ):
                return [call]
        holder, is_item = self._holder_of(made)
        uses: Iterable[ast.expr] = ()
        if isinstance(holder, ast.Name):
            scope = self._names.scope(holder).lookup(holder.id)
            uses = self._names.reads(holder.id, scope) if scope is not None else ()
        elif isinstance(holder, ast.Attribute):
            uses = [use for use in self._names.attribute_uses(holder.attr) if isinstance(use.ctx, ast.Load)]
        called = [self._syntax.parents[use] for use in uses]
        if is_item:
            called = [self._syntax.parents[part] for part in called if isinstance(part, ast.Subscript)]
        return [call for call in called if isinstance(call, ast.Call) and not is_in(call, made)]

    def _holder_of(self, made: ast.Lambda) -> tuple[ast.expr | None, bool]:
        """Return the variable or attribute that is assigned a lambda, or a dict with it (then True)."""
        value: ast.AST = made
        is_item = False
        while isinstance(around := self._syntax.parents[value], (ast.IfExp, ast.Dict)):
            is_item = is_item or isinstance(around, ast.Dict)
            value = around
        match around:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                return target, is_item
        return None, False

    def _heat_where_written(self, node: ast.AST) -> Frequency:
        summary = self._symbols.function_at(node)
        if summary is None:
            return COLD
        loops = self._analysis.loops
        around = [loops.index[loop] for loop in loops.around(node)]
        heat = self._heat.inside(summary, around)
        if heat.level is Heat.COLD:
            return heat  # conditions only make it colder
        guards = loops.cooling_guards(node)
        return self._heat.inside(summary, around, guards) if guards else heat

    def runs_each_pass(self, node: ast.AST, *, innermost: bool = False) -> bool:
        """Whether a node runs in every run of the code that makes it this hot: in each environment step
        of the loop, or each gradient step of the update. False under an interval (`if step % n == 0`), at the
        node or at all calls that lead to it, and if in doubt. With `innermost`, whether it runs in each
        iteration of the innermost loop around it, or else in each call of its function.
        """
        if innermost:
            return self._runs_here(node)
        level = self.heat_of(node).level
        place = self.place(node) if level is not Heat.COLD else None
        return place is not None and self._heat.each_pass(place, level)

    def _runs_here(self, node: ast.AST) -> bool:
        place = self.place(node)
        if place is None:
            return self._analysis.loops.iteration_frequency.each_pass(node) is not False
        loop = place.loops[0] if place.loops else -1
        guards = tuple(guard for guard in place.guards if guard.loop == loop)
        return self._heat.holds(place.function, guards, each_pass=place.each_pass) is not False

    def place(self, node: ast.AST) -> CodePlace | None:
        """Return the position of a node by its function, loops and conditions; None for code that is not
        summarised.
        """
        summary = self._symbols.function_at(node)
        if summary is None:
            return None
        loops = self._analysis.loops
        around = tuple(loops.index[loop] for loop in loops.around(node))
        return CodePlace(
            summary, around, loops.conditions.of(node), loops.iteration_frequency.each_pass(node)
        )

    def runs_by_role(self, node: ast.AST) -> bool:
        """Whether a node runs in each call of a function that is only known to be called often by its name
        (`act`, `store_transition`) or its body, as no code of the project calls it. `runs_each_pass` is False
        there.
        """
        place = self.place(node)
        if place is None or place.loops or not self._heat.by_role(place.function):
            return False
        return self._heat.holds(place.function, place.guards, each_pass=place.each_pass) is not False

    def guards(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the conditions that guard a node, up to the training loop that runs it: around it, or with
        an earlier `continue` or `return`, here and at the calls that lead to it (on the path with the
        fewest). Conditions that hold in nearly every iteration are left out.
        """
        beat = self.cadence(node)
        return beat.guards if beat is not None else self._analysis.loops.conditions.of(node)

    def conditions(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the conditions that guard a node in its own function, including those around all loops."""
        return self._analysis.loops.conditions.of(node)

    def cadence(self, node: ast.AST) -> Cadence | None:
        """Return what the training loop around a node does in each iteration, and the conditions between
        the two; None if no such loop is known.
        """
        place = self.place(node)
        return self._heat.cadence(place) if place is not None else None

    def driving_loop(self, node: ast.AST) -> AnyLoop | None:
        """Return the loop of a node's own function that determines its cadence."""
        beat = self.cadence(node)
        if beat is None or beat.calls:
            return None
        index = self._analysis.loops.index
        return next((loop for loop in self.loops(node) if index[loop] == beat.loop), None)

    def drivers(self, node: ast.AST, *, iteration: bool = False) -> frozenset[Driver]:
        """Return what the function around a node, and its warm callers, do repeatedly: the members of
        `Driver`. With `iteration`, what each iteration of the loop `node` does, directly or by its calls.
        """
        if iteration:
            own, index = self._symbols.function_at(node), self._analysis.loops.index.get(node)
            if own is None or index is None:
                return frozenset()
            direct, nested = self._heat.loops_driven_by(own)[index]
            return direct | nested
        function = self._syntax.function(node)
        if function is None and self._symbols.module.cells and self.loops(node):
            return frozenset()  # a cell of a notebook may only show what another one trains
        summary = self._symbols.function_at(node)
        return self._heat.drives(summary) if summary is not None else frozenset()

    def passed_names(self, name: ast.Name) -> list[str]:
        """Return the names of the arguments that calls in hot and warm code pass to the parameter `name`,
        one for each such call ("" for an unnamed expression, none for a text); empty if it is
        not a parameter.
        """
        bindings = self._dataflow.definitions(name)
        function = self._syntax.function(name)
        if function is None or [binding.kind for binding in bindings] != [BindingKind.PARAMETER]:
            return []
        summary = self._symbols.function_at(name)
        return self._heat.passed_names(summary, name.id) if summary is not None else []

    def is_called(self, node: ast.AST, *, other_file: bool = False) -> bool:
        """Whether code of the project, tests excluded, calls the function around a node; with
        `other_file`, code of another file.
        """
        summary = self._symbols.function_at(node)
        return summary is not None and any(
            not other_file or call.edge.caller.module != summary.module
            for call in self._heat.callers(summary)
        )

    def is_called_in_loops(self, node: ast.AST, *, steps: bool = False, nested: bool = False) -> bool:
        """Whether hot code calls the function around a node in a loop, also through other functions: in each
        environment step or (without `steps`) for each item, not once per update. With `nested`, whether any
        code calls it in two loops or more, of which it need not be known that they train.
        """
        summary = self._symbols.function_at(node)
        if nested and summary is not None:
            return bool(summary.qualname) and loops_at_calls(summary, self._heat, self._loops_at_calls) > 1
        return summary is not None and is_called_in_loops(summary, self._heat, steps=steps)

    def takes_loop_items(self, name: ast.Name) -> bool:
        """Whether a call in warm or hot code passes a loop variable to the parameter `name`, directly or
        through parameters of callers.
        """
        summary = self._symbols.function_at(name)
        return summary is not None and takes_loop_items(self._heat, summary, name.id)

    def may_be_warm(self, node: ast.AST) -> bool:
        """Whether any line of the function around a node may be warmer than cold. Cheaper than `heat_of`."""
        return self._syntax.function(node) in self._warm_functions

    def warm_nodes(self, kind: type[ast.AST]) -> list[ast.AST]:
        """Return all nodes of exactly this type that may be warm, in source order."""
        known = self._warm_nodes.get(kind)
        if known is None:
            known = self._warm_nodes[kind] = self._syntax.run_by(self._warm_functions, kind)
        return known

    @cached_property
    def _warm_functions(self) -> frozenset[Function | None]:
        """Return the functions of this file with lines that may be warm; None for the module level."""
        of_type = self._syntax.of_type
        found: set[Function | None] = set()
        for function in (None, *of_type(ast.FunctionDef), *of_type(ast.AsyncFunctionDef)):
            summary = self._symbols.module.functions.get(
                self._syntax.qualname(function) if function is not None else ""
            )
            if summary is not None and self._heat.may_be_warm(summary):
                found.add(function)
        if found:  # a lambda that a name or an attribute holds is as warm as its calls
            found.update(
                self._syntax.function(made)
                for made in of_type(ast.Lambda)
                if self._holder_of(made)[0] is not None
            )
        for call in self._syntax.written.calls_of(tuple(vocabulary.TRANSFORMS_STEPS)):
            if any(isinstance(given, ast.Lambda) for given in call.args[1:2]):
                found.add(self._syntax.function(call))
        return frozenset(found)

    def loops(self, node: ast.AST) -> list[AnyLoop]:
        """Return the loops and comprehensions of the same function that repeat a node, innermost first. A
        loop that the node's block leaves by `break`, `return` or `raise` is not included.
        """
        return self._analysis.loops.around(node)
