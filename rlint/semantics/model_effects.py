"""Queries about effects: side effects, cost, files written."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.models.effect import Effect
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.dataflow.iterator_consumption import IteratorConsumers, IteratorUses
from rlint.semantics.dataflow.sum_trees.sum_tree import SumTreeWalks
from rlint.semantics.dataflow.sum_trees.sum_tree_uses import TreeDirection, storage_of
from rlint.semantics.effects import purity
from rlint.semantics.effects.copied_arguments import CopiedArguments
from rlint.semantics.effects.log_writes import is_log_write
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.tensors_passed import PassedTensors, tensors_passed
from rlint.semantics.interprocedural.implicit_call_sites import store_path
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.model_types import TypeQueries
from rlint.semantics.nn.checkpoints import writes_checkpoint
from rlint.semantics.nn.methods_by_name import is_open, taking_of
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Loop
from rlint.syntax.walk import descendants


class EffectQueries:
    """Answers what evaluating an expression does besides producing a value. Unknown code may have any
    effect.
    """

    def __init__(
        self,
        analysis: FileAnalysis,
        program: WholeProgram,
        names: NameQueries,
        types: TypeQueries,
        dataflow: DataflowQueries,
        symbols: FileSymbols,
    ) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._program = program
        self._index = program.index
        self._heat = program.heat
        self._names = names
        self._types = types
        self._dataflow = dataflow
        self._symbols = symbols
        self._work = purity.Purity(program.index)
        self._exhausted = IteratorUses(analysis)
        self._consumers = IteratorConsumers(program.index)

    def effect_of(self, expression: ast.AST) -> Effect:
        """Return the effect of evaluating an expression or running a statement, all its parts included."""
        return self._analysis.effects.effect_of(expression)

    def call_effect(self, call: ast.Call) -> Effect:
        """Return the effect of a call, its arguments left out."""
        return self._analysis.effects.call_effect(call)

    def is_cheap(self, call: ast.Call) -> bool:
        """Whether the call is so cheap that repeating it does not matter (`len`, `str.lower`, `tensor.view`,
        a project function that only looks up a value).
        """
        cheap = purity.is_cheap(call, self._analysis)
        if cheap is None:
            targets = self._types.call_targets(call)
            return bool(targets) and not any(self._work.does_work(target) for target in targets)
        return cheap

    def writes_checkpoint(self, call: ast.Call) -> bool:
        """Whether a call writes a checkpoint each time that it runs."""
        targets = self._types.call_targets(call)
        if targets:
            return any(map(self._heat.saves, targets))
        return writes_checkpoint(call, self._analysis)

    def writes_log(self, call: ast.Call) -> bool:
        """Whether a library call writes to a log at once, rather than buffering."""
        if not is_log_write(call, self._analysis):
            return False
        if not isinstance(call.func, ast.Attribute) or self._names.qualified(call.func) is not None:
            return True
        if self._types.call_targets(call):
            return False
        is_known = bool(self._types.type_of(call.func.value))
        return is_known or not self._program.log_writers.holds_back(
            self._caller_of(call), call.func.attr, call.lineno
        )

    def writes_log_by_method(self, call: ast.Call) -> bool:
        """Whether a call of a project method writes to a log at once (`logger.log(key, value, step)`), as far
        as the receiver's name determines the method. False if the lines of the method itself run as often as
        the call.
        """
        if not isinstance(call.func, ast.Attribute):
            return False
        relied = self._program.log_writers.called(self._caller_of(call), call.func.attr, call.lineno)
        return relied is not None and not any(keyword.arg in (*relied, None) for keyword in call.keywords)

    def is_called_like_relay(self, method: str) -> bool:
        """Whether a method of the project with this name only writes the text of its callers to a log."""
        return method in self._program.log_writers.relay_names

    def relays_log(self, call: ast.Call) -> bool:
        """Whether a call is all that a method does: it writes the text of known callers to a log."""
        return self._program.log_writers.relays(self._caller_of(call))

    def _caller_of(self, call: ast.Call) -> str:
        function = self._syntax.function(call)
        return self._analysis.name + (f".{self._syntax.qualname(function)}" if function is not None else "")

    def is_repeatable(self, expression: ast.expr) -> bool:
        """Whether evaluating it again, without other code in between, always gives an equal value. False for
        expressions that draw random numbers, mutate an object or are unknown, whose value other threads,
        processes or files determine, and that occur too often to be compared.
        """
        if not self.effect_of(expression).quiet or self._dataflow.is_given_up(expression):
            return False
        for node in descendants(expression):
            if purity.looks_outside(node, self._analysis):
                return False
            if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) in self._shared_tensors:
                return False
            if isinstance(node, ast.Call) and any(
                map(self._work.watches_others, self._types.call_targets(node))
            ):
                return False
        return True

    def may_exhaust(self, expression: ast.AST) -> ast.expr | None:
        """Return what evaluating an expression or running a statement may exhaust, so that a second time gets
        nothing: a variable or the like that is iterated over, here or in functions of the project, and may be
        an iterator.
        """
        for taken in self._exhausted.taken(descendants(expression)):
            targets = self._types.call_targets(taken.place) if isinstance(taken.place, ast.Call) else []
            if taken.argument and not any(self._consumers.iterates_over(t, taken.argument) for t in targets):
                continue
            for source in self._exhausted.may_be_iterators(taken):
                return source
        for call in descendants(expression):
            if isinstance(call, ast.Call) and any(
                "" in self._consumers.parameters(t) for t in self._types.call_targets(call)
            ):
                return call
        return None

    def is_worth_caching(self, function: FunctionSummary) -> bool:
        """Whether calling a function of the project twice is expensive and returns the same result twice."""
        return (
            self._index.effect_of(function).quiet
            and self._work.does_work(function)
            and not self._work.watches_others(function)
        )

    def sum_trees(self, node: ast.Call | ast.Subscript | Loop, way: TreeDirection) -> list[Type]:
        """Return the types of the containers of the sum trees that a call, an assigned item, or a loop over
        all its iterations descends once, or updates once from a leaf to the root; empty if there are none.
        For `map(tree.find, values)`, those of one item.
        """
        if isinstance(node, (ast.Call, ast.Subscript)):
            return self._walked_by(node, way)
        walks = self._walks.loops if way == "walks_down" else self._walks.updating_loops
        return self._stored_in(walks.get(node))

    def _walked_by(self, node: ast.Call | ast.Subscript, way: TreeDirection) -> list[Type]:
        path = self._path_of_walk(node)
        return self._program.sum_trees.of(path, self._analysis.name, way) if path else []

    def _path_of_walk(self, node: ast.Call | ast.Subscript) -> str | None:
        if not self._program.sum_trees.any:
            return None
        if isinstance(node, ast.Subscript):
            return store_path(node, self._analysis)
        if self._names.qualified(node.func) == "builtins.map" and len(node.args) > 1:
            return self._names.qualified(node.args[0]) or self._types.type_of(node.args[0]).of
        return self._analysis.effects.path_of(node)

    def sum_tree_walks(self, node: ast.Call | ast.Subscript, way: TreeDirection) -> list[ast.AST]:
        """Return the places in this file that walk sum trees for a call or an assigned item: the loops, and
        what recursive functions read or write.
        """
        path = self._path_of_walk(node)
        if not path:
            return []
        walkers = self._program.sum_trees.walkers(path, self._analysis.name, way)
        found = (self._types.definition(function) for function in walkers)
        return [
            place for function in found if function is not None for place in self._walks.places_in(function)
        ]

    def _stored_in(self, read: ast.expr | None) -> list[Type]:
        storage = storage_of(read, self._analysis) if read is not None else None
        return [storage] if storage is not None else []

    def has_sum_trees(self) -> bool:
        """Whether any code that this file may run descends or updates a sum tree."""
        return self._program.sum_trees.any or bool(self._walks.loops or self._walks.updating_loops)

    def copies_to_device(self, call: ast.Call, argument: ast.AST) -> bool:
        """Whether a function of the project that a call may run copies an argument to a device, itself or by
        functions that it passes it to. For a method of an object of unknown class, whether any method of this
        name does, which is likely.
        """
        return self._copied.copies(call, argument, self._types.call_targets(call))

    @cached_property
    def _copied(self) -> CopiedArguments:
        return CopiedArguments(self._analysis, self._index, self._methods_by_name)

    def _methods_by_name(self, call: ast.Call) -> list[FunctionSummary]:
        """Return the methods that a call on an object of unknown class may run."""
        if not isinstance(call.func, ast.Attribute) or not is_open(call, self._analysis, TypeTag.UNKNOWN):
            return []
        return taking_of(self._index.methods_named(call.func.attr), call)

    @cached_property
    def _walks(self) -> SumTreeWalks:
        return SumTreeWalks(self._syntax)

    @cached_property
    def _shared_tensors(self) -> set[str | None]:
        """Return the names of tensors that several processes share."""
        return {last_name(shared.value) for shared in self._names.attribute_uses("share_memory_")}

    def tensors_passed(self, name: ast.Name) -> PassedTensors:
        """Return what calls pass for the parameter `name`; nothing if `name` may have other values than that
        parameter.
        """
        bindings = self._dataflow.definitions(name)
        summary = self._symbols.function_at(name)
        if summary is None or [binding.kind for binding in bindings] != [BindingKind.PARAMETER]:
            return PassedTensors()
        return tensors_passed(self._heat, summary, name.id)
