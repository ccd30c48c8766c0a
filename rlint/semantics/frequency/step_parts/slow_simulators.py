"""Simulators that a program waits for in each environment step."""

from __future__ import annotations

from rlint.models.rl import SIMULATORS, SLOW_SIMULATORS
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import ModuleSummary

_GYMS = frozenset({"gym", "gymnasium"})
_MAKES = "make"


class SlowSimulators:
    """The programs of a project whose environments are those of a simulator with steps of several
    milliseconds.
    """

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._known: dict[str, float] = {}

    def seconds(self, module: str) -> float:
        """Return the seconds that the program of a module waits for such a simulator in each step, at least.
        0 if it also uses others, or creates environments by their names in Gym, which may be fast.
        """
        program = self._graph.program(module)
        known = self._known.get(program)
        if known is None:
            known = self._known[program] = self._waits(self._graph.program_files(module))
        return known

    @staticmethod
    def _waits(files: list[ModuleSummary]) -> float:
        imported = frozenset[str]().union(*(file.packages for file in files))
        slow = imported & SLOW_SIMULATORS.keys()
        if not slow or imported & SIMULATORS - slow or any(map(_makes_others, files)):
            return 0.0
        return min(SLOW_SIMULATORS[package] for package in slow)


def _makes_others(file: ModuleSummary) -> bool:
    return _MAKES in file.attributes_read and not _GYMS.isdisjoint(file.packages)
