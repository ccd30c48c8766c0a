"""Threads and processes that run functions, over the files of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from rlint.frozen import frozen
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary
from rlint.semantics.threads.spawn import PROCESS, THREAD

_DEPTH = 4
_SORTS = {TypeTag.PROCESS: PROCESS, TypeTag.THREAD: THREAD}


@frozen
class WorkerStart:
    """A line of `launcher` that starts workers, each of which runs `target`.

    `sort` is "process" or "thread"; `many` says that several of them may run at once.
    """

    launcher: FunctionSummary
    line: int
    target: FunctionSummary
    sort: str
    many: bool


@frozen
class Runners:
    """The workers that may run a function: those of `starts`, and if `other_starts` the code that starts
    workers or the main program. Functions without callers count for neither.
    """

    starts: tuple[WorkerStart, ...] = ()
    other_starts: bool = True


class WorkerGraph:
    """The workers of a project: the code that starts them, and the functions that they run."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.index = graph.index
        self._runners: dict[str, Runners] = {}

    def starts_of(self, launcher: FunctionSummary | None) -> list[WorkerStart]:
        """Return the lines of a function that start workers whose function is known."""
        return [start for start in self._starts if start.launcher is launcher]

    def starts_in(self, module: str) -> tuple[WorkerStart, ...]:
        """Return the lines in the program of a module that start workers, without tests."""
        program = self.graph.program
        here = program(module)
        return tuple(start for start in self._starts if program(start.launcher.module) == here)

    @cached_property
    def _starts(self) -> tuple[WorkerStart, ...]:
        found = []
        workers = self._worker_classes
        for module in self.index.modules.values():
            for function in () if module.is_test else module.functions.values():
                found += [
                    self._start(function, edge.site, edge.target, edge.site.starts)
                    for edge in self.graph.calls(function.path)
                    if edge.site.starts
                ]
                for site in function.calls if workers else ():
                    cls = self.index.symbol(site.path, module.module) if site.path else None
                    if isinstance(cls, ClassSummary) and cls.path in workers:
                        run = self.index.method(cls, "run")
                        if run is not None:
                            found.append(self._start(function, site, run, workers[cls.path]))
        return tuple(found)

    @cached_property
    def _worker_classes(self) -> dict[str, str]:
        """Return the classes that derive from a thread or a process and define `run`."""
        found = {}
        for module in self.index.modules.values():
            for cls in module.classes.values():
                sort = _SORTS.get(self.index.class_kind(cls).tag) if cls.bases else None
                if sort is not None and self.index.method(cls, "run") is not None:
                    found[cls.path] = sort
        return found

    def _start(
        self, launcher: FunctionSummary, site: CallSite, target: FunctionSummary, sort: str
    ) -> WorkerStart:
        many = site.many or site.loop >= 0 or self._repeated(launcher, _DEPTH)
        return WorkerStart(launcher, site.line, target, sort, many)

    def _repeated(self, function: FunctionSummary, depth: int) -> bool:
        """Whether a loop calls a function, directly or through others."""
        if depth == 0:
            return False
        callers = [edge for edge in self.graph.callers(function.path) if not edge.site.starts]
        return any(edge.site.loop >= 0 or self._repeated(edge.caller, depth - 1) for edge in callers)

    def lines_starting(self, launcher: FunctionSummary) -> int:
        """Return the number of lines on which one function calls a launcher under the same conditions."""
        lines: dict[tuple[str, object], set[int]] = {}
        for edge in self.graph.callers(launcher.path):
            if not edge.site.starts:
                lines.setdefault((edge.caller.path, edge.site.guards), set()).add(edge.site.line)
        return max(map(len, lines.values()), default=0)

    def runners(self, function: FunctionSummary) -> Runners:
        """Return the workers that may run a function of the project."""
        known = self._runners.get(function.path)
        if known is None:
            known = self._runners[function.path] = self._find_runners(function)
        return known

    def _find_runners(self, function: FunctionSummary) -> Runners:
        targets: dict[str, list[WorkerStart]] = {}
        for start in self._starts:
            targets.setdefault(start.target.path, []).append(start)
        if not targets:
            return Runners()
        launchers = {start.launcher.path for start in self._starts}
        found: list[WorkerStart] = []
        other_starts = False
        seen = {function.path}
        open_functions = [function]
        while open_functions:
            current = open_functions.pop()
            found += targets.get(current.path, ())
            callers = [edge.caller for edge in self.graph.callers(current.path) if not edge.site.starts]
            other_starts |= not current.qualname or current.path in launchers - targets.keys()
            for caller in callers:
                if caller.path not in seen:
                    seen.add(caller.path)
                    open_functions.append(caller)
        found.sort(key=lambda start: (start.launcher.path, start.line))
        return Runners(tuple(found), other_starts)

    def run_at_once(self, runners: Sequence[Runners]) -> bool:
        """Whether one run of a program may have several threads or processes of these at once: those that
        different scripts start are alternatives.
        """
        starts = {(start.launcher.path, start.line): start for each in runners for start in each.starts}
        if any(start.many for start in starts.values()):
            return True
        lines = Counter(start.launcher.module for start in starts.values())
        shared = sum(number for module, number in lines.items() if module in self._imported)
        of_a_script = max((lines[module] for module in lines.keys() - self._imported), default=0)
        return shared + of_a_script + any(each.other_starts for each in runners) > 1

    @cached_property
    def _imported(self) -> frozenset[str]:
        """Return the modules that other files import, tests left out."""
        return frozenset(
            self.graph.imported(target, module.module)
            for module in self.index.modules.values()
            if not module.is_test
            for target in (*module.imports.values(), *module.star_imports)
        )

    def run_by(self, function: FunctionSummary) -> list[FunctionSummary]:
        """Return a function, and all known functions that it runs in the same thread."""
        found = {function.path: function}
        open_functions = [function]
        while open_functions:
            for edge in self.graph.calls(open_functions.pop().path):
                if not edge.site.starts and edge.target.path not in found:
                    found[edge.target.path] = edge.target
                    open_functions.append(edge.target)
        return list(found.values())
