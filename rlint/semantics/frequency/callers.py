"""Walk from a line up its callers, for all queries of frequency."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, Protocol, TypeVar

from rlint.findings import Heat
from rlint.frozen import frozen, mutable
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.summary import FunctionSummary

MOST_CALLERS = 8
"""Maximum number of calls of one function that a walk follows."""
LONGEST_WAY = 6
"""Maximum number of functions on a path up the callers, including the line's own."""
_ANY_LENGTH = -1
_MOST_KEPT = 2000
"""Maximum number of answers that one query keeps; a program of 100,000 lines needs about twice as many."""
_NONE: frozenset[str] = frozenset()

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
            edges = (*self._graph.callers(function.path), *self._graph.reads(function.path))
            known = self._known[function.path] = [
                edge for edge in edges if edge.caller.path not in self._in_tests
            ]
        return known


class Callers(Protocol):
    """The calls of a function, and the heat of each."""

    def callers(self, function: FunctionSummary) -> list[IncomingCall]:
        """Return the calls, without those of tests."""


@mutable
class _Walk(Generic[AnswerT]):
    """What a walk up the callers of a function found. It holds for each way to the function of which the walk
    meets the same functions again (`cut_by`) and that has the same length (`seen`); if the walk was not cut
    by the length, for any that leaves room for its `height`.
    """

    answer: AnswerT | None
    seen: int
    met: set[str]
    height: int = 1
    cut_by: frozenset[str] = _NONE
    is_too_long: bool = False

    def holds(self, seen: tuple[str, ...]) -> bool:
        """Whether the answer holds for another way to the function."""
        has_room = len(seen) == self.seen if self.is_too_long else len(seen) + self.height <= LONGEST_WAY
        return has_room and self.met.intersection(seen) == self.cut_by

    def add(self, above: _Walk[AnswerT]) -> None:
        """Add what a walk up from one of the callers depends on."""
        self.met |= above.met
        self.height = max(self.height, above.height + 1)
        if above.cut_by:
            self.cut_by |= above.cut_by
        self.is_too_long |= above.is_too_long


class CallerWalk(Generic[AnswerT]):
    """One query about a place. If its function does not answer it (`here`), the calls of the function are
    queried, and their answers joined (`join`). Calls that `counts` rules out, recursive calls, and functions
    further away than `LONGEST_WAY` give no answer.

    Ways meet in the same callers. Their answers are kept, as the number of ways grows exponentially.
    """

    def __init__(self, calls: Callers) -> None:
        self._calls = calls
        self._known: dict[tuple[str, int], list[_Walk[AnswerT]]] = {}  # with the length of the way
        self._kept = 0
        self._now: list[_Walk[AnswerT]] = []  # the walks that are being made, from the original place up

    def ask(self, place: CodePlace, seen: tuple[str, ...] = ()) -> AnswerT | None:
        """Return the answer for a place; `seen` are the functions between it and the original place."""
        found = self.here(place)
        if found is not None:
            return found
        found = self._of_callers(place.function, seen)
        return self.past(place, found) if found is not None else None

    def _of_callers(self, function: FunctionSummary, seen: tuple[str, ...]) -> AnswerT | None:
        """Return the answer from the calls of a function, which is the same for all of its lines."""
        lengths = (_ANY_LENGTH, len(seen))
        # the next way to the function is likely similar to the last one
        known = (
            walk for length in lengths for walk in reversed(self._known.get((function.path, length), ()))
        )
        walk = next((walk for walk in known if walk.holds(seen)), None)
        if walk is None:
            walk = self._walk(function, seen)
            length = walk.seen if walk.is_too_long else _ANY_LENGTH
            if self._kept > _MOST_KEPT:
                self._known.clear()
                self._kept = 0
            self._known.setdefault((function.path, length), []).append(walk)
            self._kept += 1
        if self._now:
            self._now[-1].add(walk)
        return walk.answer

    def _walk(self, function: FunctionSummary, seen: tuple[str, ...]) -> _Walk[AnswerT]:
        way = (*seen, function.path)
        walk: _Walk[AnswerT] = _Walk(None, len(seen), {function.path})
        if len(way) > LONGEST_WAY:
            walk.is_too_long = True
            return walk
        self._now.append(walk)
        walk.answer = self.join(self._answers(function, way))
        self._now.pop()
        if walk.cut_by:
            walk.cut_by -= {function.path}
        return walk

    def _answers(
        self, function: FunctionSummary, way: tuple[str, ...]
    ) -> Iterator[tuple[IncomingCall, AnswerT]]:
        walk = self._now[-1]
        for call in self._calls.callers(function)[:MOST_CALLERS]:
            caller = call.edge.caller.path
            walk.met.add(caller)
            if caller in way:
                walk.cut_by |= {caller}
            elif self.counts(call):
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
