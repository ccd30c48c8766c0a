"""Walk from a line up its callers, for all queries of frequency."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, Protocol, TypeVar

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.summary import FunctionSummary

MOST_CALLERS = 8
"""Maximum number of calls of one function that a walk follows."""
LONGEST_WAY = 6
"""Maximum number of functions on a path up the callers, including the line's own."""

AnswerT = TypeVar("AnswerT")


@frozen
class CodePlace:
    """The position of a line in its function: the loops around it (their indices, innermost first), the
    conditions that guard it, including those around all loops, and whether it runs in each iteration of the
    loops (see iteration_frequency.py).
    """

    function: FunctionSummary
    loops: tuple[int, ...]
    guards: tuple[Guard, ...] = ()
    each_pass: bool | None = None


@frozen
class IncomingCall:
    """A call of a function, with the heat of its place."""

    level: Heat
    edge: CallEdge

    @property
    def place(self) -> CodePlace:
        """Return the place of the call in its caller."""
        site, caller = self.edge.site, self.edge.caller
        return CodePlace(caller, tuple(caller.loops_from(site.loop)), site.guards, site.each_pass)


class ProgramCalls:
    """The calls of functions in the program, without those of tests."""

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
    """The calls of a function, and the heat of each."""

    def callers(self, function: FunctionSummary) -> list[IncomingCall]:
        """Return the calls, without those of tests."""


class CallerWalk(Generic[AnswerT]):
    """One query about a place. If its function does not answer it (`here`), the calls of the function are
    queried, and their answers joined (`join`). Calls that `counts` rules out, recursive calls, and functions
    further away than `LONGEST_WAY` give no answer.
    """

    def __init__(self, calls: Callers) -> None:
        self._calls = calls
        self._known: dict[str, AnswerT | None] = {}

    def ask(self, place: CodePlace, seen: tuple[str, ...] = ()) -> AnswerT | None:
        """Return the answer for a place; `seen` are the functions between it and the original place."""
        found = self.here(place)
        if found is not None:
            return found
        found = self._of_callers(place.function, seen)
        return self.past(place, found) if found is not None else None

    def _of_callers(self, function: FunctionSummary, seen: tuple[str, ...]) -> AnswerT | None:
        """Return the answer from the calls of a function, which is the same for all of its lines."""
        if not seen and function.path in self._known:
            return self._known[function.path]
        way = (*seen, function.path)
        found = self.join(self._answers(function, way)) if len(way) <= LONGEST_WAY else None
        if not seen:  # on the path to another function, cycles are cut elsewhere
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
        """Return the answer that the function of a place determines alone; None to query its callers."""
        raise NotImplementedError

    def counts(self, _call: IncomingCall) -> bool:
        """Whether a call contributes to the answer for the lines of the called function."""
        return True

    def join(self, answers: Iterator[tuple[IncomingCall, AnswerT]]) -> AnswerT | None:
        """Return the answer for a function, joined from the answers of its calls."""
        raise NotImplementedError

    def past(self, _place: CodePlace, answer: AnswerT) -> AnswerT:
        """Return the answer for a place, given that for the calls of its function."""
        return answer
