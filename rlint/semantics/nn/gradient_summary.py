"""What other files need to know about the gradients in one file."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cached_property

from rlint import models as library
from rlint.models import gradient_rules as facts
from rlint.models import vocabulary
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.nn.gradient_flow import GradientFlow
from rlint.semantics.nn.gradient_sinks import LEARNS, TAKES, SinkKind
from rlint.semantics.nn.optimizer_params import OptimizerParams
from rlint.syntax.last_names import calls_named, last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants, end_in_order, place_in_order

_SMALL = 6
"""Statements in a helper that is looked through for what becomes of its arguments."""


_STORES = vocabulary.STORES | {"add", "insert", "put", "put_nowait"}
_KEEPERS = _STORES | LEARNS | facts.PUTS_IN
_ENDING = (
    facts.GIVES_NUMBER
    | facts.GIVES_INDEX
    | facts.DETACHES
    | facts.ENDING_ATTRIBUTES
    | {name.rpartition(".")[2] for name in facts.LOOKED_AT_BY_BUILTINS}
)


class GradientSummaries:
    """Fills in what the functions of one file do with gradients."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.here = analysis.autograd
        self.gradients = GradientFlow(analysis, self.here)

    @cached_property
    def concerned(self) -> bool:
        """Whether the file uses torch at all."""
        return "torch" in self.analysis.syntax.text

    def turned_in_module(self) -> bool:
        """Whether the code at module level switches autograd off or on for all that follows."""
        return self.concerned and self.here.turned_by(None)

    def frozen(self) -> frozenset[str]:
        """Return the last names of the networks whose weights the file may turn off."""
        return OptimizerParams(self.analysis).frozen if "grad" in self.analysis.syntax.text else frozenset()

    def describe(self, node: Function, summary: FunctionSummary) -> None:
        """Note what a function does to autograd, and to the gradients of its arguments and results."""
        if not self.concerned:
            return
        summary.turns_autograd = self.here.turned_by(node)
        summary.concerns_autograd = self.here.concerns(node)
        returned = self._returned(node)
        paths: dict[str, None] = {}
        for value in returned:
            sources = self.gradients.sources(value)
            paths.update(dict.fromkeys(self.gradients.path_of(call) for call in sources.calls))
            if sources.kept:
                paths[""] = None
        summary.gradient_from = tuple(paths)
        if any(paths) and node.name != "forward" and self._may_keep(node):
            summary.keeps_gradient = any(map(self._is_kept, self._calls(node)))
        if len(node.body) <= _SMALL and returned and _lets_end(node):
            summary.releases = self._released(node, summary.call_parameters)

    def _returned(self, node: Function) -> list[ast.expr]:
        """Return what a function returns, except constants."""
        values = [statement.value for statement in self.analysis.syntax.written.returns.get(node, ())]
        return [value for value in values if value is not None and not isinstance(value, ast.Constant)]

    def _calls(self, function: Function) -> Iterator[ast.Call]:
        """Yield the calls in a function that may run a network."""
        for node in descendants(function):
            if type(node) is ast.Call and self.analysis.syntax.function(node) is function:
                qualified = self.analysis.names.qualified(node.func)
                if qualified is None or library.callable_fact(qualified) is None:
                    yield node

    def _may_keep(self, function: Function) -> bool:
        """Whether anything in a function takes the gradient of a value, or keeps it. Before files are
        linked, values are not followed out of the function.
        """
        places = self._keeping
        first = bisect_left(places, place_in_order(function))
        return first < len(places) and places[first] < end_in_order(function)

    @cached_property
    def _keeping(self) -> list[int]:
        """Return the lines where the file may take or keep a gradient, in order."""
        tree, qualified = self.analysis.syntax, self.analysis.names.qualified
        found: list[ast.AST] = [*tree.written.attribute_stores, *tree.written.item_stores]
        found += calls_named(_KEEPERS, tree)
        found += [call for call in tree.of_type(ast.Call) if (qualified(call.func) or "").startswith(TAKES)]
        for elsewhere in (ast.Global, ast.Nonlocal, ast.ClassDef):  # by way of variables of theirs
            found += tree.of_type(elsewhere)
        return sorted(map(place_in_order, found))

    def _is_kept(self, call: ast.Call) -> bool:
        """Whether the gradient of a call's result is taken, or kept for later."""
        for left in self.gradients.each_outlet(call):
            if left.label in (SinkKind.STORED, SinkKind.LEARNED):
                return True
            stores = isinstance(left.node, ast.Call) and last_name(left.node.func) in _STORES
            if left.label is SinkKind.HANDED and stores:
                return True
        return False

    def _released(self, node: Function, handed: Collection[str]) -> tuple[str, ...]:
        """Return the parameters whose gradient gets no further than the function, of those that calls
        hand over.
        """
        return tuple(
            name
            for name, bindings in self.analysis.syntax.scopes[node].bindings.items()
            if name in handed
            and bindings[0].kind is BindingKind.PARAMETER
            and self.gradients.releases(node, name)
        )


def _lets_end(node: Function) -> bool:
    """Whether anything in a function ends a gradient."""
    for part in descendants(node):
        kind = type(part)
        if kind is ast.Attribute and part.attr in _ENDING:  # type: ignore[attr-defined]
            return True
        if kind is ast.Name and part.id in _ENDING:  # type: ignore[attr-defined]
            return True
    return False
