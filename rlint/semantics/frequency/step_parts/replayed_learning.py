"""Learning that follows each environment step in off-policy programs, in whatever loop it happens."""

from __future__ import annotations

from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import ModuleSummary

_WORDS = "replay", "rollout"
_MOST = 8
"""Larger numbers are rather those of several algorithms."""


class ReplayedLearning:
    """How many networks the programs of a project update after each environment step, if they learn from a
    replay memory.
    """

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._known: dict[str, int] = {}

    def networks(self, module: str) -> int:
        """Return how many networks the program of a module updates for each step; 0 if it has no replay
        memory, or collects rollouts as well, whose steps are others.
        """
        program = self._graph.program(module)
        known = self._known.get(program)
        if known is None:
            files = self._graph.program_files(module)
            replays, collects = (any(_mentions(word, file) for file in files) for word in _WORDS)
            known = self._known[program] = _updated(files) if replays and not collects else 0
        return known


def _mentions(word: str, file: ModuleSummary) -> bool:
    """Whether a function, its class, or an attribute of a file has a word in its name."""
    return any(word in name.lower() for names in (file.functions, file.attributes_read) for name in names)


def _updated(files: list[ModuleSummary]) -> int:
    """Return how many optimizers a learner steps: a class, or the functions of a file. The middle one of
    several.
    """
    learners: dict[tuple[str, str], int] = {}
    for file in files:
        for function in file.functions.values():
            if function.steps_optimizers:
                learner = file.module, function.qualname.rpartition(".")[0]
                learners[learner] = learners.get(learner, 0) + len(function.steps_optimizers)
    found = sorted(number for number in learners.values() if number <= _MOST)
    return found[(len(found) - 1) // 2] if found else 0
