"""How hot the conditions around a line let it be, as far as the whole program tells."""

from __future__ import annotations

from rlint.findings import Heat
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import OFTEN, RARE_UPDATE, Guard, GuardKind
from rlint.semantics.frequency.roles import takes_gradient_step
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import FunctionSummary


class FrequencyBounds:
    """The bounds of guards. An interval before a gradient step counts as one only where it is long: a step
    of the optimizer every ten steps of the environment is what the loop is for.
    """

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._updates: dict[str, frozenset[int]] = {}

    def of(self, guards: tuple[Guard, ...], function: FunctionSummary) -> Heat:
        """Return the hottest that a line of `function` behind these guards can be."""
        return min([self._of_guard(guard, function) for guard in guards], default=Heat.HOT)

    def _of_guard(self, guard: Guard, function: FunctionSummary) -> Heat:
        if guard.kind is not GuardKind.INTERVAL or guard.period is None:
            return guard.cap
        is_update = guard.line in self._updates.get(function.path, ())
        return Heat.WARM if guard.period >= (RARE_UPDATE if is_update else OFTEN) else Heat.HOT

    def note_updates(self, once: dict[str, frozenset[Driver]]) -> None:
        """Note the intervals at which functions take gradient steps, given what each function drives once
        per call.
        """
        for module in self._graph.index.modules.values():
            for function in module.functions.values():
                lines = set(function.update_intervals)
                for edge in self._graph.calls(function.path):
                    if edge.site.guards and Driver.GRADIENT_STEP in once[edge.target.path]:
                        lines.update(_intervals(edge.site.guards))
                for site in self._graph.unresolved(function.path):
                    if site.guards and takes_gradient_step(site):
                        lines.update(_intervals(site.guards))
                if lines:
                    self._updates[function.path] = frozenset(lines)


def _intervals(guards: tuple[Guard, ...]) -> list[int]:
    return [guard.line for guard in guards if guard.kind is GuardKind.INTERVAL]
