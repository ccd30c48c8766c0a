"""Switches of a program that are off unless its user turns them on."""

from __future__ import annotations

from rlint.regex import regex
from rlint.semantics.frequency.branches.declared_options import UNKNOWN_VALUE, Given
from rlint.semantics.interprocedural.call_graph import CallGraph

_NO_FEATURE = regex(
    r"(^|_)(cuda|gpus?|devices?|cpu|mps|train\w*|learn\w*|run|main|mode|continuous|discrete|target|reset|done"
    r"|env\w*|seed|x|out)($|_)"
)
"""Switches that say where or whether training runs, or that describe its task."""
_CONFIGURED = frozenset(
    "draccus gin hydra jsonargparse ml_collections omegaconf pyrallis ruamel sacred yaml".split()
)
"""Libraries that read settings from other files, which override what the code declares."""


class OptionDefaults:
    """The settings of the programs of a project, by their names alone."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._given: dict[tuple[str, str], set[Given]] = {}
        self._configured: set[str] = set()
        for module in graph.index.modules.values():
            if module.is_test:
                continue
            program = graph.program(module.module)
            for name, values in module.options.items():
                self._given.setdefault((program, name), set()).update(values)
            if any(target.partition(".")[0] in _CONFIGURED for target in module.imports.values()):
                self._configured.add(program)

    def values(self, name: str, module: str) -> frozenset[object] | None:
        """Return the values of a switch that is off by default: `False`, `None` or 0. None if it may be on:
        if the program turns it on at any place, computes it, or reads its settings from other files.
        """
        program = self._graph.program(module)
        if program in self._configured or _NO_FEATURE.search(name.lower()):
            return None
        given = self._given.get((program, name), set())
        values = {value for value, _ in given}
        is_declared = any(declared for _, declared in given)
        is_off = is_declared and UNKNOWN_VALUE not in values and all(_is_off(value) for value in values)
        return frozenset(values) if is_off else None


def _is_off(value: object) -> bool:
    return value is None or value == 0
