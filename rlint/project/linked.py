"""What follows from the summaries of a group of files together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from rlint.project.autograd import Guesses
from rlint.project.calls import CallGraph
from rlint.project.channels import Channels
from rlint.project.concurrency import Concurrency
from rlint.project.descents import Descents
from rlint.project.heat import HeatMap
from rlint.project.index import Index
from rlint.project.summary import ModuleSummary
from rlint.project.words import Words


class Linked:
    """A program, or several that know of one another: what its files tell, linked. Whatever is known of a
    file beside its own text is asked of one of these parts.
    """

    def __init__(self, summaries: Iterable[ModuleSummary]) -> None:
        self.index = Index(summaries)
        self.graph = CallGraph(self.index)
        self.heat = HeatMap(self.index, self.graph)
        self.words = Words(self.graph)
        self.descents = Descents(self.index)

    @cached_property
    def guesses(self) -> Guesses:
        """What can be guessed of autograd where nobody knows who calls a function."""
        return Guesses(self.graph)

    @cached_property
    def concurrency(self) -> Concurrency:
        """Who starts threads and processes, and what these run."""
        return Concurrency(self.graph)

    @cached_property
    def channels(self) -> Channels:
        """The queues, events and shared values, and what goes through them."""
        return Channels(self.graph)
