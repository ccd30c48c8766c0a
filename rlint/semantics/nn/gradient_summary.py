"""Gradients of one file, summarised for other files."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import TypeGuard

from rlint import models as library
from rlint.models import gradient_rules as facts
from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.nn.gradient_flow import ITEM, GradientFlow
from rlint.semantics.nn.gradient_sinks import ENDS, LEARNS, TAKES, GradientTrace, SinkKind
from rlint.semantics.nn.gradient_sources import GradientSources
from rlint.semantics.nn.learned_parameters import learned_bindings, learned_calls, learned_parameters
from rlint.semantics.nn.optimizer_params import OptimizerParams
from rlint.semantics.nn.recurrent_state import ends_of_results
from rlint.syntax.last_names import calls_named, last_name
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants, end_in_order, place_in_order

_SMALL = 6
"""Maximum number of statements in a helper whose use of its arguments is analysed."""
_PLAIN = 24
"""The same for a helper that runs no layers of its own."""


_NONE = GradientSources()
_LAYERS = frozenset({"forward", "__init__"})
_STORES = vocabulary.STORES | {"add", "insert", "put", "put_nowait"}
_KEEPERS = _STORES | LEARNS | facts.PUTS_IN
_ENDING = (
    facts.GIVES_NUMBER
    | facts.GIVES_INDEX
    | facts.DETACHES
    | facts.ENDING_ATTRIBUTES
    | {name.rpartition(".")[2] for name in facts.LOOKED_AT}
)


class GradientSummaries:
    """Fills in the effects on gradients in the summaries of one file's functions."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.here = analysis.autograd
        self.gradients = GradientFlow(analysis, self.here)

    @cached_property
    def concerned(self) -> bool:
        """Whether the file uses torch at all."""
        return "torch" in self.analysis.syntax.text

    def turned_in_module(self) -> bool:
        """Whether the module-level code turns autograd off or on globally."""
        return self.concerned and self.here.turned_by(None)

    def ends_of(self, call: ast.Call) -> tuple[int, ...]:
        """Return the items of a call's result whose gradient ends in the function around it; -1 for all."""
        return ends_of_results(call, self.gradients)

    def is_learned(self, call: ast.Call) -> bool:
        """Whether the gradient of a call's result reaches a value that the file calls `backward` on."""
        return call in self._learned_calls

    @cached_property
    def _learned_calls(self) -> frozenset[ast.Call]:
        return learned_calls(self.analysis.syntax, self.gradients.sources)

    def frozen(self) -> frozenset[str]:
        """Return the last names of the networks whose weights the file may freeze."""
        return OptimizerParams(self.analysis).frozen if "grad" in self.analysis.syntax.text else frozenset()

    def describe(self, node: Function, summary: FunctionSummary) -> None:
        """Record the effects of a function on autograd, and on the gradients of its arguments and results."""
        if not self.concerned:
            return
        summary.turns_autograd = self.here.left_turned_by(node)
        summary.concerns_autograd = self.here.concerns(node)
        summary.weights_read = tuple(
            name for name in self.analysis.weight_reads.parameters_read(node) if name in summary.parameters
        )
        summary.learned = tuple(
            name for name in self._learned.get(node, ()) if name in summary.call_parameters
        )
        returned = self._returned(node)
        paths: dict[str, None] = {}
        runs: dict[str, None] = {}
        for value in returned:
            sources = self.gradients.sources(value)
            paths.update(dict.fromkeys(self.gradients.path_of(call) for call in sources.calls))
            called = (_network_of(call) for call in sources.calls)
            runs.update((network.id, None) for network in called if self._is_given(network))
            if sources.kept:
                paths[""] = None
        summary.gradient_from = tuple(paths)
        summary.runs = tuple(name for name in runs if name in summary.call_parameters)
        summary.plain_results, summary.stepped_results = self._plain_results(returned)
        summary.learned_results = self._learned_results(node, returned)
        if (any(paths) or runs) and node.name != "forward" and self._may_keep(node):
            summary.keeps_gradient = any(map(self._is_kept, self._calls(node)))
        small = len(node.body) <= _SMALL and _lets_end(node)
        plain = len(node.body) <= _PLAIN and node.name not in _LAYERS
        if (returned or (plain and self._sets_items(node))) and (small or plain):
            self._describe_parameters(node, summary)

    @cached_property
    def _learned(self) -> dict[Function, list[str]]:
        return learned_parameters(self.analysis.syntax, self.analysis.definitions)

    def _returned(self, node: Function) -> list[ast.expr]:
        """Return what a function returns, except constants."""
        values = [statement.value for statement in self.analysis.syntax.written.returns.get(node, ())]
        return [value for value in values if value is not None and not isinstance(value, ast.Constant)]

    def _plain_results(self, returned: list[ast.expr]) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
        """Return the items of returned tuples that surely carry no gradient: actions that are sampled or
        converted, beside their log-probabilities. Those that only hold results of steps of environments, such
        as rewards, come with the paths of these steps.
        """
        tuples = [value.elts for value in returned if isinstance(value, ast.Tuple)]
        if not tuples or len(tuples) != len(returned) or len({len(items) for items in tuples}) > 1:
            return (), ()
        if any(isinstance(item, ast.Starred) for items in tuples for item in items):
            return (), ()
        plain: list[int] = []
        stepped: list[tuple[int, str]] = []
        for place, items in enumerate(zip(*tuples, strict=True)):
            paths: dict[str, None] = {}
            for item in items:
                steps = self._steps_of(item)
                if steps is None:
                    break
                paths.update(dict.fromkeys(steps))
            else:
                stepped += [(place, path) for path in paths]
                plain += [] if paths else [place]
        return tuple(plain), tuple(stepped)

    def _learned_results(
        self, node: Function, returned: list[ast.expr]
    ) -> tuple[tuple[int | str, tuple[str, ...]], ...]:
        """Return the items of the results, by position or key, that the function has called `backward` on, or
        on values computed from them, with the paths whose gradient they carry; -1 if the result is no tuple
        or dict. Results without a value (`None, None`) are ignored.
        """
        learned = self._learned_bindings.get(node)
        if not learned:
            return ()
        each = [_items_of(value) for value in returned]
        full = [items for items in each if not all(map(_is_none, items.values()))]
        found: list[tuple[int | str, tuple[str, ...]]] = []
        for key in full[0] if full else ():
            values = [items[key] for items in full if key in items]
            if len(values) == len(full) and all(self._is_learned(value, learned) for value in values):
                calls = [call for value in values for call in self.gradients.sources(value).calls]
                found.append((key, tuple(dict.fromkeys(map(self.gradients.path_of, calls)))))
        return tuple(found)

    def _is_learned(self, item: ast.expr, learned: set[Binding]) -> bool:
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute):  # `loss.mean()`
            return item.func.attr not in _ENDING and self._is_learned(item.func.value, learned)
        if not isinstance(item, ast.Name) or not self.gradients.sources(item).calls:
            return False
        return not learned.isdisjoint(self.analysis.definitions.reaching(item))

    @cached_property
    def _learned_bindings(self) -> dict[Function, set[Binding]]:
        return learned_bindings(self.analysis.syntax, self.analysis.definitions)

    def _steps_of(self, item: ast.expr) -> tuple[str, ...] | None:
        """Return the paths of the steps of environments of whose results a value consists, if it surely
        carries no other gradient; variables of other scopes may.
        """
        sources = self.gradients.sources(item)
        steps = [call for call in sources.calls if self.gradients.steps_environment(call)]
        if (self.gradients.sources(item, steps) if steps else sources) != _NONE:
            return None
        paths = [self.gradients.path_of(step) for step in steps if not self._is_made_by_library(step)]
        is_local = all(
            self.analysis.definitions.reaching(name) or self.analysis.names.qualified(name) is not None
            for name in descendants(item)
            if isinstance(name, ast.Name)
        )
        return tuple(paths) if is_local and all(paths) else None

    def _is_made_by_library(self, step: ast.Call) -> bool:
        """Whether the environment that takes a step is known to be one of a library, of whatever class."""
        assert isinstance(step.func, ast.Attribute)
        kind = self.analysis.types.type_of(step.func.value)
        return kind.tag is TypeTag.ENVIRONMENT and not kind.of

    def _is_given(self, called: ast.expr) -> TypeGuard[ast.Name]:
        """Whether the callee is an argument of the function."""
        if not isinstance(called, ast.Name):
            return False
        bindings = self.analysis.definitions.reaching(called)
        return bool(bindings) and all(each.kind is BindingKind.PARAMETER for each in bindings)

    def _calls(self, function: Function) -> Iterator[ast.Call]:
        """Yield the calls in a function that may run a network."""
        for node in descendants(function):
            if type(node) is ast.Call and self.analysis.syntax.function(node) is function:
                qualified = self.analysis.names.qualified(node.func)
                if qualified is None or library.callable_fact(qualified) is None:
                    yield node

    def _may_keep(self, function: Function) -> bool:
        """Whether any code in a function may compute the gradient of a value, or keep it. Before files are
        linked, values are not followed out of the function.
        """
        places = self._keeping
        first = bisect_left(places, place_in_order(function))
        return first < len(places) and places[first] < end_in_order(function)

    def _sets_items(self, function: Function) -> bool:
        """Whether a function sets items of containers or arrays: `self.values[self.position] = value`."""
        places = self._items_set
        first = bisect_left(places, place_in_order(function))
        return first < len(places) and places[first] < end_in_order(function)

    @cached_property
    def _items_set(self) -> list[int]:
        return sorted(map(place_in_order, self.analysis.syntax.written.item_stores))

    @cached_property
    def _keeping(self) -> list[int]:
        """Return the lines where the file may compute or keep a gradient, in order."""
        tree, qualified = self.analysis.syntax, self.analysis.names.qualified
        found: list[ast.AST] = [*tree.written.attribute_stores, *tree.written.item_stores]
        found += calls_named(_KEEPERS, tree)
        found += [call for call in tree.of_type(ast.Call) if (qualified(call.func) or "").startswith(TAKES)]
        for other_edits in (ast.Global, ast.Nonlocal, ast.ClassDef):  # through their variables
            found += tree.of_type(other_edits)
        return sorted(map(place_in_order, found))

    def _is_kept(self, call: ast.Call) -> bool:
        """Whether the gradient of a call's result is computed, or kept for later."""
        for left in self.gradients.each_outlet(call):
            if left.label in (SinkKind.STORED, SinkKind.LEARNED):
                return True
            stores = isinstance(left.node, ast.Call) and last_name(left.node.func) in _STORES
            if left.label is SinkKind.HANDED and stores:
                return True
        return False

    def _describe_parameters(self, node: Function, summary: FunctionSummary) -> None:
        """Record the arguments whose gradients do not leave the function, and those whose gradients reach
        only its results.
        """
        releases, carries, alone = [], [], []
        passed_gradients: list[tuple[str, str, str]] = []
        ended: list[tuple[str, str, str]] = []
        for name, bindings in self.analysis.syntax.scopes[node].bindings.items():
            if name not in summary.call_parameters or bindings[0].kind is not BindingKind.PARAMETER:
                continue
            binding = self.gradients.binding_of(node, name)
            if self.analysis.types.evidence.class_tests.is_tested(name):
                ended += [(name, *each) for each in self._ends_of_tensor(*binding)]
            trace = PassedGradient(self.gradients)
            labels = {left.label for left in trace.of_binding(*binding)}
            if not (labels or trace.passes_on) or not labels <= ENDS | {SinkKind.RETURNED}:
                continue
            if SinkKind.RETURNED not in labels and not trace.passes_on:
                releases.append(name)
                continue
            carries.append(name)
            passed_gradients += [(name, *each) for each in trace.passes_on]
            if trace.passes_on:
                only = PassedGradient(self.gradients, returns_value=False)
                left = only.of_binding(*binding)
                if all(one.label is not SinkKind.RETURNED for one in left):
                    alone.append(name)
        summary.releases, summary.carries = tuple(releases), tuple(carries)
        summary.passed_gradients, summary.only_passed_on = tuple(passed_gradients), tuple(alone)
        summary.ends_tensors = tuple(ended)

    def _ends_of_tensor(self, binding: Binding, scope: Scope) -> list[tuple[str, str]]:
        """Return the calls that the gradient of a parameter is passed to, as path and argument, if it is a
        tensor and its gradient leaves the function through nothing else; an empty pair if it is passed to
        none.
        """
        trace = PassedGradient(self.gradients, returns_value=False, is_tensor=True)
        labels = {left.label for left in trace.of_binding(binding, scope)}
        if not labels <= ENDS or not (labels or trace.passes_on):
            return []
        return list(trace.passes_on) or [("", "")]


class PassedGradient(GradientTrace):
    """The walk of a gradient through one function, before files are linked: `passes_on` are the calls of
    other functions that it is passed to, as path and argument (for items that are set, path of the container
    and `ITEM`). With `returns_value`, they return it; with
    `is_tensor`, branches that no tensor reaches are left out.
    """

    def __init__(
        self, gradients: GradientFlow, *, returns_value: bool = True, is_tensor: bool = False
    ) -> None:
        super().__init__(gradients)
        self._returns_value = returns_value
        self._is_tensor_only = is_tensor
        self.passes_on: dict[tuple[str, str], None] = {}

    def readers(self, binding: Binding, scope: Scope) -> list[ast.Name]:
        """Return the uses of a variable; if it holds a tensor, without those that no tensor reaches."""
        found = super().readers(binding, scope)
        if not self._is_tensor_only or binding.kind is not BindingKind.PARAMETER:
            return found
        tests = self.analysis.types.evidence.class_tests
        return [use for use in found if not (tests.exclude_tensor(use) or tests.exclude_tensor_after(use))]

    def follow_target(self, target: ast.expr, part: int | None, statement: ast.AST) -> None:
        """Record the container that stores the value, if its type is not known yet."""
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
            kind = self.analysis.types.type_of(target.value)
            if kind.tag is TypeTag.UNKNOWN and kind.of:
                self.passes_on[kind.of, ITEM] = None
                return
        super().follow_target(target, part, statement)

    def called_with(self, argument: ast.AST, call: ast.Call) -> None:
        """Record the call of a function that is not known yet."""
        place = _place_of(argument, call)
        path = self.gradients.path_of(call)
        is_library = library.callable_fact(path.removeprefix("builtins.")) is not None
        is_network = self.analysis.types.type_of(call.func).tag is TypeTag.MODULE
        if not path or place is None or is_library or is_network:
            super().called_with(argument, call)
            return
        self.passes_on[path, place] = None
        if self._returns_value:
            self.compute(call)


def _items_of(value: ast.expr) -> dict[int | str, ast.expr]:
    """Return the items of a returned tuple or dict by position or key; another value as -1."""
    match value:
        case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
            return dict(enumerate(items))
        case ast.Dict(keys=keys, values=items):
            return {
                key.value: item
                for key, item in zip(keys, items, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
    return {-1: value}


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _network_of(call: ast.Call) -> ast.expr:
    """Return what a call runs, if it is a network: `net` for `net(x)` and `net.forward(x)`."""
    called = call.func
    return called.value if isinstance(called, ast.Attribute) and called.attr == "forward" else called


def _place_of(argument: ast.AST, call: ast.Call) -> str | None:
    """Return the position or the keyword of an argument; None if star arguments hide it."""
    if any(isinstance(value, ast.Starred) for value in call.args):
        return None
    for keyword in call.keywords:
        if argument is keyword or argument is keyword.value:
            return keyword.arg
    return str(call.args.index(argument)) if argument in call.args else None


def _lets_end(node: Function) -> bool:
    """Whether anything in a function ends a gradient."""
    for part in descendants(node):
        kind = type(part)
        if kind is ast.Attribute and part.attr in _ENDING:  # type: ignore[attr-defined]
            return True
        if kind is ast.Name and part.id in _ENDING:  # type: ignore[attr-defined]
            return True
    return False
