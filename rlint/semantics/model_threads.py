"""Threads, processes and what they share."""

from __future__ import annotations

import ast

from rlint.semantics.frequency.intervals import last_name
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.model_gradients import SiteGradients
from rlint.semantics.threads.contexts import Runners, Start
from rlint.semantics.threads.locks import Section
from rlint.semantics.threads.queues import Made
from rlint.semantics.threads.spawn import makes_worker
from rlint.syntax.scopes import How


class SiteSharing(SiteGradients):
    """Threads, processes and what they share."""

    def starts_at(self, call: ast.Call) -> list[Start]:
        """The workers that a call makes, each with the function that it will run, where that is known."""
        function = self.summary_around(call)
        found = [start for start in self._linked.concurrency.starts_of(function) if start.line == call.lineno]
        return found if found and makes_worker(call, self.knowledge) else []

    def starts(self) -> tuple[Start, ...]:
        """All lines of the program that this file belongs to which start workers."""
        return self._linked.concurrency.starts_in(self.module.module)

    def runners(self, node: ast.AST) -> Runners:
        """Who may run a node: the workers that were started with a function that leads to it, and whether
        code outside of workers does, too.
        """
        function = self.summary_around(node)
        return self._linked.concurrency.runners(function) if function is not None else Runners()

    def run_by(self, function: FunctionSummary) -> list[FunctionSummary]:
        """A function, and all that it runs in the same thread, as far as is known."""
        return self._linked.concurrency.run_by(function)

    def learns(self, function: FunctionSummary) -> bool:
        """Does a function, with all that it calls, take gradient steps?"""
        return self._heat.learns(function)

    def convolves(self, function: FunctionSummary) -> bool:
        """Is a function the forward pass of a network with convolutions?"""
        owner, _, name = function.qualname.rpartition(".")
        parts = self.index.modules[function.module].parts
        return name == "forward" and any(
            part.name.startswith("torch.nn.Conv")
            for key, every in parts.items()
            if key.startswith(f"{owner}.")
            for part in every
        )

    def program_says(self, word: str) -> bool:
        """Whether a file of the program sets how torch computes: a word of `nn.torch_settings`."""
        return self._linked.words.program_says(word, self.module.module)

    def lock_sections(self) -> tuple[Section, ...]:
        """The parts of this file that run while a lock is held, one for each `with` or `acquire`."""
        return self.knowledge.locks.sections

    def sections_of(self, statement: ast.AST) -> list[Section]:
        """Those that a statement begins: several where a `with` takes several locks."""
        return self.knowledge.locks.begun_by(statement)

    def locks_held(self, node: ast.AST) -> tuple[Section, ...]:
        """The sections of the same function that hold a lock while a node runs, innermost first."""
        return self.knowledge.locks.held(node)

    def is_locked(self, node: ast.AST) -> bool:
        """Is a lock held while a node runs, by the function around it or by all calls that lead to it?"""
        if self.locks_held(node):
            return True
        function = self.summary_around(node)
        return function is not None and self._called_locked(function, 4)

    def _called_locked(self, function: FunctionSummary, depth: int) -> bool:
        callers = self._heat.graph.callers(function.path)
        return (
            depth > 0
            and bool(callers)
            and all(edge.site.locked or self._called_locked(edge.caller, depth - 1) for edge in callers)
        )

    def guarded(self, section: Section) -> frozenset[str]:
        """The names of the state that the lock of a section guards: what any section of that lock writes."""
        return self.knowledge.locks.guarded(section)

    def made(self, shared: ast.expr) -> tuple[Made, ...]:
        """How the queues, events or shared values are made that an expression may be, by its name and by
        what callers call it; empty where nobody knows.
        """
        return self._linked.channels.made(self._shared_names(shared), self.module.module)

    def carries(self, queue: ast.expr) -> str:
        """What the program puts into a queue: METRICS, DATA or UNSURE of `rlint.semantics.threads.queues`."""
        return self._linked.channels.carries(self._shared_names(queue), self.module.module)

    def who(self, does: str, event: ast.expr) -> list[FunctionSummary]:
        """The functions of the program that do something with an event: "set", "clear", "wait" or "look"."""
        return self._linked.channels.signals(self._shared_names(event), self.module.module, does)

    def _shared_names(self, shared: ast.expr) -> set[str]:
        name = last_name(shared)
        if name is None:
            return set()
        is_parameter = isinstance(shared, ast.Name) and any(
            binding.how is How.PARAMETER for binding in self.definitions(shared)
        )
        return self._linked.channels.aliases(name, self.summary_around(shared), parameter=is_parameter)
