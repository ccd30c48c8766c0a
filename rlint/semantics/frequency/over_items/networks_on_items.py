"""Loops of a program that run a network on one of many items after the other."""

from __future__ import annotations

from collections.abc import Callable

from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary

_DEPTH = 3
"""Maximum number of functions between a loop and the network that it runs."""
_MOST_TARGETS = 8
"""Maximum number of functions that a call may run, such as the overrides of a method."""


class NetworksOnItems:
    """The loops over items that run a network, in their own function or in the functions that they call.

    `is_network` tells classes of networks, whose own loops run over layers and time steps; `is_driven` tells
    loops that something else makes hot or cold.
    """

    def __init__(
        self,
        graph: CallGraph,
        is_network: Callable[[ClassSummary], bool],
        is_driven: Callable[[FunctionSummary, int], bool],
    ) -> None:
        self._graph = graph
        self._is_network = is_network
        self._is_driven = is_driven
        self._loops: dict[str, frozenset[int]] = {}
        self._running: dict[tuple[str, int], bool] = {}

    def loops(self, function: FunctionSummary) -> frozenset[int]:
        """Return the indices of these loops of a function."""
        known = self._loops.get(function.path)
        if known is None:
            known = self._loops[function.path] = frozenset(self._find(function))
        return known

    def _find(self, function: FunctionSummary) -> list[int]:
        candidates = [index for index, loop in enumerate(function.loops) if loop.item_calls]
        if not candidates:
            return []
        cls = self._graph.index.owner_of(function)
        if cls is not None and self._is_network(cls):
            return []
        return [
            index
            for index in candidates
            if not function.loops[index].bounded
            and (function.loops[index].runs_on_items or self._passes_items(function, index))
            and not self._is_driven(function, index)
        ]

    def _passes_items(self, function: FunctionSummary, loop: int) -> bool:
        """Whether a call in a loop passes an item to a network, or to a function that runs one."""
        lines = function.loops[loop].item_calls

        def is_meant(site: CallSite) -> bool:
            return site.line in lines and loop in function.loops_from(site.loop)

        if any(self._calls_network(site, function) for site in function.calls if is_meant(site)):
            return True
        targets: dict[int, list[FunctionSummary]] = {}
        for edge in self._graph.calls(function.path):
            if is_meant(edge.site) and edge.target is not function:
                targets.setdefault(id(edge.site), []).append(edge.target)
        return any(
            len(several) <= _MOST_TARGETS and all(self._runs_network(each, _DEPTH) for each in several)
            for several in targets.values()
        )

    def _calls_network(self, site: CallSite, function: FunctionSummary) -> bool:
        return bool(site.path) and (
            self._graph.index.resolve(site.path, function.module).tag is TypeTag.MODULE
            and "loss" not in (site.path.rpartition(".")[2] or "").lower()
        )

    def _runs_network(self, function: FunctionSummary, depth: int) -> bool:
        """Whether a function runs a network, itself or in functions that it calls."""
        key = function.path, depth
        known = self._running.get(key)
        if known is None:
            self._running[key] = False
            known = self._running[key] = self._look_into(function, depth)
        return known

    def _look_into(self, function: FunctionSummary, depth: int) -> bool:
        if function.runs_network or any(self._calls_network(site, function) for site in function.calls):
            return True
        cls = self._graph.index.owner_of(function)
        if cls is not None and function.name == "forward" and self._is_network(cls):
            return True
        return depth > 1 and any(
            edge.target is not function and self._runs_network(edge.target, depth - 1)
            for edge in self._graph.calls(function.path)
            if not edge.guessed
        )
