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
        self._known: dict[str, bool] = {}

    def include(self, module: str) -> bool:
        """Whether the program of a module waits for such a simulator. False if it also uses others, or
        creates environments by their names in Gym, which may be fast.
        """
        program = self._graph.program(module)
        known = self._known.get(program)
        if known is None:
            known = self._known[program] = self._waits(program)
        return known

    def _waits(self, program: str) -> bool:
        files = [
            each
            for each in self._graph.index.modules.values()
            if not each.is_test and self._graph.program(each.module) == program
        ]
        imported = frozenset().union(*map(_packages, files))
        is_only_kind = imported & (SIMULATORS | SLOW_SIMULATORS) <= SLOW_SIMULATORS
        return bool(imported & SLOW_SIMULATORS) and is_only_kind and not any(map(_makes_others, files))


def _makes_others(file: ModuleSummary) -> bool:
    return _MAKES in file.attributes_read and not _GYMS.isdisjoint(_packages(file))


def _packages(file: ModuleSummary) -> frozenset[str]:
    """Return the packages of other projects, and those of the own one, that a file imports from."""
    return frozenset(target.partition(".")[0] for target in (*file.imports.values(), *file.star_imports))
