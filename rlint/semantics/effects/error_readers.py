"""Code of a program that may read the errors of a function."""

from __future__ import annotations

from collections.abc import Iterable

from rlint.frozen import frozen
from rlint.semantics.effects.errors_read import ANY_CALL, ANY_ITERATOR, ANY_MANAGER, ANY_VALUE, OF_GENERATORS
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import (
    ClassSummary,
    ErrorBlock,
    FunctionSummary,
    ModuleSummary,
)


@frozen
class _ErrorsRead:
    """What runs in the blocks of a program whose errors it reads: last names of functions, and lines by the
    module; with `values`, the last names of the functions that it uses as values.
    """

    names: frozenset[str]
    lines: dict[str, list[tuple[int, int]]]
    values: frozenset[str]


class ErrorReaders:
    """Answers whether code of a program may read the error that a function raises."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._of_programs: dict[str, _ErrorsRead] = {}

    def read_at(self, module: str, line: int) -> bool:
        """Whether an error that a line of a module raises is read around it, in the same function."""
        return self._is_inside(self._errors_read(module), module, line)

    def read(self, function: FunctionSummary) -> bool:
        """Whether code of the program may read the error that a function raises: a handler around a call of
        the function, or around a call of one of its callers.
        """
        known = self._errors_read(function.module)
        if not known.names:
            return False
        if ANY_CALL in known.names:
            return True
        pending, seen = [function], {function.path}
        while pending:
            current = pending.pop()
            if _is_named(current, known):
                return True
            for edge in self._graph.callers(current.path):
                if self._is_inside(known, edge.caller.module, edge.site.line):
                    return True
                if edge.caller.path not in seen:
                    seen.add(edge.caller.path)
                    pending.append(edge.caller)
        return False

    @staticmethod
    def _is_inside(known: _ErrorsRead, module: str, line: int) -> bool:
        return any(first <= line <= last for first, last in known.lines.get(module, ()))

    def _errors_read(self, module: str) -> _ErrorsRead:
        program = self._graph.program(module)
        known = self._of_programs.get(program)
        if known is None:
            modules = self._graph.index.modules.values()
            files = [each for each in modules if self._graph.program(each.module) == program]
            known = self._of_programs[program] = self._find(files)
        return known

    def _find(self, files: Iterable[ModuleSummary]) -> _ErrorsRead:
        managers = frozenset[str]().union(*(each.error_managers for each in files))
        names: set[str] = set()
        lines: dict[str, list[tuple[int, int]]] = {}
        for file in files:
            for block in file.error_blocks:
                if not block.manager or self._is_reading(block, file, managers):
                    names.update(block.names)
                    lines.setdefault(file.module, []).append((block.first, block.last))
        values = (each.function_values for each in files if not each.is_test)
        every = frozenset[str]().union(*values)
        used = every if ANY_VALUE in names else frozenset[str]()
        if ANY_ITERATOR in names:
            generators = (name for name in every if name.startswith(OF_GENERATORS))
            used |= {name.removeprefix(OF_GENERATORS) for name in generators}
        return _ErrorsRead(frozenset(names), lines, used)

    def _is_reading(self, block: ErrorBlock, file: ModuleSummary, managers: frozenset[str]) -> bool:
        """Whether the context manager of a block may be one that reads errors."""
        if not managers or block.manager == ANY_MANAGER:
            return bool(managers)
        index = self._graph.index
        symbol = index.symbol(block.manager, file.module)
        if isinstance(symbol, ClassSummary):
            exits = (index.method(symbol, name) for name in ("__exit__", "__aexit__"))
            return any(method is not None and method.path in managers for method in exits)
        if isinstance(symbol, FunctionSummary):
            return symbol.path in managers
        name = block.manager.rpartition(".")[2]
        return any(name in path.split(".")[-2:] for path in managers)


def _is_named(function: FunctionSummary, known: _ErrorsRead) -> bool:
    """Whether a block may run a function, judging by its name."""
    name = function.name
    if name == "__init__":
        return function.qualname.rpartition(".")[0].rpartition(".")[2] in known.names
    # operators and statements run special methods without their names
    return name in known.names or name in known.values or name.startswith("__")
