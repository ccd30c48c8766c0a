"""What follows from the summaries of a group of files together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from rlint.semantics.dataflow.sum_tree import SumTreeDescents
from rlint.semantics.effects.log_writes import LogWriters
from rlint.semantics.frequency.heat import HeatMap
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.program_symbols import ProgramSymbols
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.nn.autograd import AutogradGuesses
from rlint.semantics.threads.contexts import WorkerGraph
from rlint.semantics.threads.queues import Channels


class WholeProgram:
    """A program, or several that know of one another: what its files tell, linked. Whatever is known of a
    file beside its own text is asked of one of these parts.
    """

    def __init__(self, summaries: Iterable[ModuleSummary]) -> None:
        self.index = ProjectIndex(summaries)
        self.graph = CallGraph(self.index)
        self.heat = HeatMap(self.index, self.graph)
        self.program_symbols = ProgramSymbols(self.graph)
        self.sum_trees = SumTreeDescents(self.index)

    @cached_property
    def guesses(self) -> AutogradGuesses:
        """What can be guessed of autograd where nobody knows who calls a function."""
        return AutogradGuesses(self.graph)

    @cached_property
    def log_writers(self) -> LogWriters:
        """Which functions write to a log in each call."""
        return LogWriters(self.graph)

    @cached_property
    def workers(self) -> WorkerGraph:
        """Who starts threads and processes, and what these run."""
        return WorkerGraph(self.graph)

    @cached_property
    def channels(self) -> Channels:
        """The queues, events and shared values, and what goes through them."""
        return Channels(self.graph)
