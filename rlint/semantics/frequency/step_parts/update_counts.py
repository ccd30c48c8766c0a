"""Number of networks that a training step updates."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.semantics.frequency.callers import CodePlace
from rlint.semantics.interprocedural.call_graph import CallEdge
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap

_DEPTH = 4
"""Maximum number of calls that are followed from a training loop to the optimizers."""
_MOST = 8
"""More networks are hardly updated in one step: the calls are rather those of several algorithms."""


class UpdateCounts:
    """How many networks the training steps of a project update."""

    def __init__(self, heat: HeatMap) -> None:
        self._heat = heat

    def in_step(self, place: CodePlace) -> int:
        """Return how many optimizers of networks an iteration of the training loop around a place steps, as
        far as calls lead to them; 0 if it is not known.
        """
        cadence, function = self._heat.cadence(place), place.function
        if cadence is None:
            return 0
        way = frozenset((*cadence.calls, function.path))
        start = self._functions.get(cadence.within)
        if start is None:  # a framework calls the first of them
            start = self._functions.get(cadence.calls[0]) if cadence.calls else function
        if start is None:
            return 0
        if cadence.loop < 0:
            found = self._by_one_run(start, way, _DEPTH)
        else:
            edges = self._heat.graph.calls(start.path)
            inside = [edge for edge in edges if cadence.loop in start.loops_from(edge.site.loop)]
            own = sum(cadence.loop in start.loops_from(loop) for loop in start.steps_optimizers)
            found = own + self._by_calls(inside, way, _DEPTH)
        return found if found <= _MOST else 0

    def _by_one_run(self, function: FunctionSummary, way: Collection[str], depth: int) -> int:
        found = len(function.steps_optimizers)
        if depth > 0 and self._heat.learns(function):
            found += self._by_calls(self._heat.graph.calls(function.path), way, depth - 1)
        return found

    def _by_calls(self, edges: Iterable[CallEdge], way: Collection[str], depth: int) -> int:
        """Return how many optimizers some calls step. Of several functions that one call may run, the one on
        the way to the line counts, else that with the fewest.
        """
        by_site: dict[int, list[FunctionSummary]] = {}
        for edge in edges:
            if self._heat.learns(edge.target):
                by_site.setdefault(id(edge.site), []).append(edge.target)
        found = 0
        for targets in by_site.values():
            chosen = [target for target in targets if target.path in way] or targets
            found += min(self._by_one_run(target, way, depth) for target in chosen)
        return found

    @cached_property
    def _functions(self) -> dict[str, FunctionSummary]:
        modules = self._heat.index.modules.values()
        return {function.path: function for module in modules for function in module.functions.values()}
