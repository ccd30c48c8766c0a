"""Threads, processes and what they share."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.threads.contexts import Runners, WorkerStart
from rlint.semantics.threads.locks import LockSection
from rlint.semantics.threads.queues import ChannelMaker, name_of_channel
from rlint.semantics.threads.spawn import makes_worker
from rlint.syntax.scopes import BindingKind


class ThreadQueries:
    """Answers which worker runs a place, which locks are held there, and what is put into queues. Unknown
    workers, locks and queues are left out.
    """

    def __init__(
        self, analysis: FileAnalysis, program: WholeProgram, symbols: FileSymbols, dataflow: DataflowQueries
    ) -> None:
        self._analysis = analysis
        self._program = program
        self._heat = program.heat
        self._symbols = symbols
        self._dataflow = dataflow

    def workers_made(self, call: ast.Call) -> list[WorkerStart]:
        """Return the workers that a call creates, each with the function that it will run, if that is
        known.
        """
        function = self._symbols.function_at(call)
        found = [start for start in self._program.workers.starts_of(function) if start.line == call.lineno]
        return found if found and makes_worker(call, self._analysis) else []

    def worker_starts(self) -> tuple[WorkerStart, ...]:
        """Return all lines that start workers in the program of this file."""
        return self._program.workers.starts_in(self._symbols.module.module)

    def lines_starting(self, start: WorkerStart) -> int:
        """Return the number of lines on which one function calls the function that starts a worker, under the
        same conditions.
        """
        return self._program.workers.lines_starting(start.launcher)

    def runners(self, node: ast.AST) -> Runners:
        """Return the workers that may run a node, by the functions that they start with, and whether code
        outside of workers may, too.
        """
        function = self._symbols.function_at(node)
        return self._program.workers.runners(function) if function is not None else Runners()

    def run_at_once(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether several threads or processes of one run of the program may run one of these nodes."""
        return self._program.workers.run_at_once([self.runners(node) for node in nodes])

    def run_with(self, function: FunctionSummary) -> list[FunctionSummary]:
        """Return a function, and all known functions that it runs in the same thread."""
        return self._program.workers.run_by(function)

    def lock_sections(self) -> tuple[LockSection, ...]:
        """Return the parts of this file that run while a lock is held, one for each `with` or `acquire`."""
        return self._analysis.locks.sections

    def sections_begun(self, statement: ast.AST) -> list[LockSection]:
        """Return the sections that a statement begins: several if a `with` acquires several locks."""
        return self._analysis.locks.begun_by(statement)

    def locks_held(self, node: ast.AST) -> tuple[LockSection, ...]:
        """Return the sections of the same function that hold a lock while a node runs, innermost first."""
        return self._analysis.locks.held(node)

    def is_locked(self, node: ast.AST) -> bool:
        """Whether a lock is held while a node runs, by the enclosing function or by all calls that lead
        to it.
        """
        if self.locks_held(node):
            return True
        function = self._symbols.function_at(node)
        return function is not None and self._called_locked(function, 4)

    def _called_locked(self, function: FunctionSummary, depth: int) -> bool:
        callers = self._heat.graph.callers(function.path)
        return (
            depth > 0
            and bool(callers)
            and all(edge.site.locked or self._called_locked(edge.caller, depth - 1) for edge in callers)
        )

    def guarded_names(self, section: LockSection) -> frozenset[str]:
        """Return the names of the state that the lock of a section guards: all names that sections of that
        lock write.
        """
        return self._analysis.locks.guarded(section)

    def channel_makers(self, shared: ast.expr) -> tuple[ChannelMaker, ...]:
        """Return the calls that create the queues, events or shared values that an expression may be, judging
        by its name and the arguments of callers; empty if unknown.
        """
        return self._program.channels.made(self._shared_names(shared), self._symbols.module.module)

    def queue_content(self, queue: ast.expr) -> str:
        """Return the kind of items that the program puts into a queue: METRICS, DATA or UNSURE of
        `rlint.semantics.threads.queues`.
        """
        return self._program.channels.carries(self._shared_names(queue), self._symbols.module.module)

    def _shared_names(self, shared: ast.expr) -> set[str]:
        name = name_of_channel(shared)
        if name is None:
            return set()
        is_parameter = isinstance(shared, ast.Name) and any(
            binding.kind is BindingKind.PARAMETER for binding in self._dataflow.definitions(shared)
        )
        return self._program.channels.aliases(name, self._symbols.function_at(shared), parameter=is_parameter)
