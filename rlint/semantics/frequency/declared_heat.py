"""Declarations of how often code runs, by comments or the configuration; nothing is guessed here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rlint.findings import Heat
from rlint.semantics.frequency.answer import COLD, GRANULARITIES, Frequency
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary, LoopSummary, ModuleSummary


class DeclaredHeat:
    """The declarations about functions and loops of a program."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._functions: dict[str, Frequency] = {}
        self._loops: dict[str, dict[int, tuple[Heat, str]]] = {}
        for module in index.modules.values():
            for qualname, loop, level, why in module.declared:
                function = module.functions.get(qualname)
                if function is None:
                    continue
                if loop >= 0:
                    self._loops.setdefault(function.path, {})[loop] = level, why
                elif level is Heat.COLD:
                    self._functions[function.path] = COLD
                else:
                    chain = (f"{function.shown or module.path} ({why})",)
                    self._functions[function.path] = Frequency(level, chain, GRANULARITIES[level])
        self._entries = {
            function.path
            for module in index.modules.values()
            for name in module.entries
            if (function := module.functions.get(name)) is not None
        }

    def heats(self) -> Iterator[tuple[str, Frequency]]:
        """Yield the functions with a declared frequency."""
        yield from self._functions.items()

    def decides(self, function: FunctionSummary) -> bool:
        """Whether a function has a declared frequency, which overrides its callers and its role. An entry
        point is called once.
        """
        return function.path in self._functions or function.path in self._entries

    def is_warm(self, function: FunctionSummary) -> bool:
        """Whether a function is declared hot or warm."""
        return self._functions.get(function.path, COLD).level is not Heat.COLD

    def is_cold(self, function: FunctionSummary, loops: list[int]) -> bool:
        """Whether a function, or one of these loops in it, is declared cold."""
        declared = self._functions.get(function.path)
        if declared is not None and declared.level is Heat.COLD:
            return True
        own = self._loops.get(function.path)
        return own is not None and any(own.get(loop, (Heat.HOT, ""))[0] is Heat.COLD for loop in loops)

    def loops(self, function: FunctionSummary, inferred: tuple[Heat | None, ...]) -> tuple[Heat | None, ...]:
        """Return the declared training loops of a function, which replace guessed ones."""
        declared = self._functions.get(function.path)
        if declared is not None and declared.level is Heat.COLD:
            return (None,) * len(inferred)
        own = self._loops.get(function.path)
        if own is None:
            return inferred
        return tuple(
            inferred[i] if i not in own else None if own[i][0] is Heat.COLD else own[i][0]
            for i in range(len(inferred))
        )

    def header(self, function: FunctionSummary, loop: LoopSummary) -> str:
        """Return the header of a loop, with the origin of the declaration of its frequency."""
        own = self._loops.get(function.path)
        why = own.get(function.loops.index(loop)) if own else None
        return f"{loop.header} ({why[1]})" if why is not None else loop.header

    def is_other_script(self, module: ModuleSummary) -> bool:
        """Whether a file runs code at module level and is not one of the declared entry points."""
        if not self._has_entries or module.entries:
            return False
        top = module.functions.get("")
        return top is not None and bool(top.calls or top.loops)

    @cached_property
    def _has_entries(self) -> bool:
        return any(module.has_entries for module in self._index.modules.values())
