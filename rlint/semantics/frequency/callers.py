"""Walk from a line up the calls that lead to it: the one place that does so for questions of frequency."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, Protocol, TypeVar

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.summary import FunctionSummary

MOST_CALLERS = 8
"""Calls of one function that a walk goes on to."""
LONGEST_WAY = 6
"""Functions on a way up the callers, that of the line included."""

AnswerT = TypeVar("AnswerT")


@frozen
class CodePlace:
    """A line by what its function decides of its frequency: the loops around it (their indices, innermost
    first), the conditions that it stands behind, those around all loops included, and whether it runs in each
    iteration of them (see pacing.py).
    """

    function: FunctionSummary
    loops: tuple[int, ...]
    guards: tuple[Guard, ...] = ()
    each_pass: bool | None = None


@frozen
class IncomingCall:
    """A call of a function, and how hot the place is where it is made."""

    level: Heat
    edge: CallEdge

    @property
    def place(self) -> CodePlace:
        """Return the place of the call in its caller."""
        site, caller = self.edge.site, self.edge.caller
        return CodePlace(caller, tuple(caller.loops_from(site.loop)), site.guards, site.each_pass)


class ProgramCalls:
    """The calls that lead to functions, those of tests left out."""

    def __init__(self, graph: CallGraph, in_tests: Collection[str]) -> None:
        self._graph = graph
        self._in_tests = in_tests
        self._known: dict[str, list[CallEdge]] = {}

    def of(self, function: FunctionSummary) -> list[CallEdge]:
        """Return the calls of a function."""
        known = self._known.get(function.path)
        if known is None:
            edges = self._graph.callers(function.path)
            known = self._known[function.path] = [
                edge for edge in edges if edge.caller.path not in self._in_tests
            ]
        return known


class Callers(Protocol):
    """Knows the calls of a function, and how hot each is."""

    def callers(self, function: FunctionSummary) -> list[IncomingCall]:
        """Return them; those of tests are left out."""


class CallerWalk(Generic[AnswerT]):
    """One question about a place. Where its function does not answer it (`here`), it is asked of the calls
    that lead to the function, and the answers are joined (`join`). Calls that `counts` rules out, those by
    functions on the way, and functions further away than `LONGEST_WAY` give no answer.
    """

    def __init__(self, calls: Callers) -> None:
        self._calls = calls
        self._known: dict[str, AnswerT | None] = {}

    def ask(self, place: CodePlace, seen: tuple[str, ...] = ()) -> AnswerT | None:
        """Return the answer for a place, where the functions in `seen` lie between it and who asks."""
        found = self.here(place)
        if found is not None:
            return found
        found = self._of_callers(place.function, seen)
        return self.past(place, found) if found is not None else None

    def _of_callers(self, function: FunctionSummary, seen: tuple[str, ...]) -> AnswerT | None:
        """Return the answer of the calls of a function, the same for all of its lines."""
        if not seen and function.path in self._known:
            return self._known[function.path]
        way = (*seen, function.path)
        found = self.join(self._answers(function, way)) if len(way) <= LONGEST_WAY else None
        if not seen:  # on the way to another function, circles are cut elsewhere
            self._known[function.path] = found
        return found

    def _answers(
        self, function: FunctionSummary, way: tuple[str, ...]
    ) -> Iterator[tuple[IncomingCall, AnswerT]]:
        for call in self._calls.callers(function)[:MOST_CALLERS]:
            if call.edge.caller.path not in way and self.counts(call):
                found = self.ask(call.place, way)
                if found is not None:
                    yield call, found

    def here(self, place: CodePlace) -> AnswerT | None:
        """Return the answer that the function of a place gives alone; None to ask its callers."""
        raise NotImplementedError

    def counts(self, _call: IncomingCall) -> bool:
        """Whether a call says something of the lines of the function that it leads to."""
        return True

    def join(self, answers: Iterator[tuple[IncomingCall, AnswerT]]) -> AnswerT | None:
        """Return the answer for a function, from those of the calls that lead to it."""
        raise NotImplementedError

    def past(self, _place: CodePlace, answer: AnswerT) -> AnswerT:
        """Return the answer for a place, from that of the calls of its function."""
        return answer
