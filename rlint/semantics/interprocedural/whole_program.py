"""The analyses of a whole group of files, derived from their summaries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from rlint.semantics.dataflow.sum_trees.sum_tree_uses import SumTreeUses
from rlint.semantics.effects.log_writes import LogWriters
from rlint.semantics.effects.network_changes import NetworkChanges
from rlint.semantics.frequency.heat import HeatMap
from rlint.semantics.frequency.step_parts.replayed_learning import ReplayedLearning
from rlint.semantics.frequency.step_parts.slow_simulators import SlowSimulators
from rlint.semantics.frequency.step_parts.update_counts import UpdateCounts
from rlint.semantics.frequency.step_parts.update_rates import UpdateRates
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.likely_index import LikelyIndex
from rlint.semantics.interprocedural.mentions.program_usage import ProgramUsage
from rlint.semantics.interprocedural.program_symbols import ProgramSymbols
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.nn.autograd import AutogradGuesses
from rlint.semantics.threads.contexts import WorkerGraph
from rlint.semantics.threads.queues import Channels


class WholeProgram:
    """A program, or several that import one another: the summaries of its files, linked. Everything known
    about a file besides its own text comes from one of these parts.
    """

    def __init__(self, summaries: Iterable[ModuleSummary]) -> None:
        self.index = ProjectIndex(summaries)
        self.graph = CallGraph(self.index)
        self.heat = HeatMap(self.index, self.graph)
        self.program_symbols = ProgramSymbols(self.graph)
        self.sum_trees = SumTreeUses(self.index)

    @cached_property
    def usage(self) -> ProgramUsage:
        """Return the definitions that scripts use, and the options that they leave off."""
        return ProgramUsage(self.graph)

    @cached_property
    def updates(self) -> UpdateCounts:
        """Return how many networks the training steps update."""
        return UpdateCounts(self.heat)

    @cached_property
    def update_rates(self) -> UpdateRates:
        """Return how many environment steps come with each gradient step."""
        return UpdateRates(self.heat)

    @cached_property
    def replayed_learning(self) -> ReplayedLearning:
        """Return the programs that learn from a replay memory."""
        return ReplayedLearning(self.graph)

    @cached_property
    def slow_simulators(self) -> SlowSimulators:
        """Return the programs that wait for a simulator in each environment step."""
        return SlowSimulators(self.graph)

    @cached_property
    def likely_index(self) -> ProjectIndex:
        """Return the index of likely types, for access paths without a certain type."""
        return LikelyIndex(self.index)

    @cached_property
    def guesses(self) -> AutogradGuesses:
        """Return guesses about autograd for functions without known callers."""
        return AutogradGuesses(self.graph)

    @cached_property
    def log_writers(self) -> LogWriters:
        """Return the functions that write to a log in each call."""
        return LogWriters(self.graph)

    @cached_property
    def network_changes(self) -> NetworkChanges:
        """Return the networks whose parts files replace after the construction."""
        return NetworkChanges(self.graph)

    @cached_property
    def workers(self) -> WorkerGraph:
        """Return the graph of threads and processes: the code that starts them, and the functions that they
        run.
        """
        return WorkerGraph(self.graph)

    @cached_property
    def channels(self) -> Channels:
        """Return the queues, events and shared values, and their contents."""
        return Channels(self.graph)


class LikelyProgram(WholeProgram):
    """The same program, with likely answers where nothing is sure. Parts without likely answers are those of
    the sure program.
    """

    def __init__(self, sure: WholeProgram) -> None:
        self._sure = sure
        self.index = sure.likely_index
        self.graph = sure.graph
        self.heat = sure.heat
        self.program_symbols = sure.program_symbols
        self.sum_trees = sure.sum_trees

    @property
    def usage(self) -> ProgramUsage:
        """Return the definitions that scripts use, and the options that they leave off."""
        return self._sure.usage

    @property
    def updates(self) -> UpdateCounts:
        """Return how many networks the training steps update."""
        return self._sure.updates

    @property
    def update_rates(self) -> UpdateRates:
        """Return how many environment steps come with each gradient step."""
        return self._sure.update_rates

    @property
    def replayed_learning(self) -> ReplayedLearning:
        """Return the programs that learn from a replay memory."""
        return self._sure.replayed_learning

    @property
    def slow_simulators(self) -> SlowSimulators:
        """Return the programs that wait for a simulator in each environment step."""
        return self._sure.slow_simulators

    @property
    def guesses(self) -> AutogradGuesses:
        """Return guesses about autograd."""
        return self._sure.guesses

    @property
    def log_writers(self) -> LogWriters:
        """Return the functions that write to a log in each call."""
        return self._sure.log_writers

    @property
    def network_changes(self) -> NetworkChanges:
        """Return the networks whose parts files replace after the construction."""
        return self._sure.network_changes

    @property
    def workers(self) -> WorkerGraph:
        """Return the graph of threads and processes."""
        return self._sure.workers

    @property
    def channels(self) -> Channels:
        """Return the queues, events and shared values."""
        return self._sure.channels
