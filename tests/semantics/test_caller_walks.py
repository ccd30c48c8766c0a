"""Walks up the callers of a function: answers that are kept are those of a new walk."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from rlint.findings import Heat
from rlint.semantics.frequency.callers import (
    LONGEST_WAY,
    MOST_CALLERS,
    CallerWalk,
    CodePlace,
    IncomingCall,
)
from rlint.semantics.interprocedural.call_graph import CallEdge
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary

SITE = CallSite("", "f", 1, -1)
FUNCTIONS = [FunctionSummary("m", f"f{number}", number) for number in range(12)]


class Calls:
    """A call graph from pairs of caller and called function."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs

    def callers(self, function: FunctionSummary) -> list[IncomingCall]:
        """Return the calls of a function."""
        return [
            IncomingCall(Heat.HOT, CallEdge(FUNCTIONS[caller], SITE, function))
            for caller, called in self.pairs
            if FUNCTIONS[called] == function
        ]


class Everywhere(CallerWalk[bool]):
    """Whether all ways up lead to functions that answer with true."""

    def __init__(self, calls: Calls, answers: dict[int, bool], ignored: int) -> None:
        super().__init__(calls)
        self.answers = answers
        self.ignored = ignored
        self.visits = 0

    def here(self, place: CodePlace) -> bool | None:
        """Return the given answer of the function."""
        self.visits += 1
        return self.answers.get(place.function.line)

    def counts(self, call: IncomingCall) -> bool:
        """Whether the call is by another function than the ignored one."""
        return call.edge.caller.line != self.ignored

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool | None:
        """Return whether all answers are true."""
        found = [answer for _, answer in answers]
        return all(found) if found else None


class Anywhere(Everywhere):
    """Whether one way up leads to a function that answers with true. Stops at the first."""

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool | None:
        """Return whether one of the answers is true."""
        return any(answer for _, answer in answers)


def walked_up(walk: Everywhere, function: FunctionSummary, way: tuple[str, ...] = ()) -> bool | None:
    """Return the answer as the documentation of `CallerWalk` defines it, without keeping any."""
    found = walk.here(CodePlace(function, ()))
    if found is not None:
        return found
    way = (*way, function.path)
    if len(way) > LONGEST_WAY:
        return None

    def answers() -> Iterator[tuple[IncomingCall, bool]]:
        for call in walk._calls.callers(function)[:MOST_CALLERS]:
            if call.edge.caller.path not in way and walk.counts(call):
                answer = walked_up(walk, call.edge.caller, way)
                if answer is not None:
                    yield call, answer

    return walk.join(answers())


NUMBER = st.integers(0, len(FUNCTIONS) - 1)


@given(
    st.lists(st.tuples(NUMBER, NUMBER), max_size=40),
    st.dictionaries(NUMBER, st.booleans(), max_size=3),
    NUMBER,
    st.lists(NUMBER, min_size=1, max_size=30),
    st.sampled_from([Everywhere, Anywhere]),
)
def test_kept_answers_are_those_of_a_walk_made_again(
    pairs: list[tuple[int, int]],
    answers: dict[int, bool],
    ignored: int,
    order: list[int],
    kind: type[Everywhere],
) -> None:
    """Many queries of one walk, in any order, have the answers of as many new walks."""
    walk = kind(Calls(pairs), answers, ignored)
    for number in order:
        expected = walked_up(kind(Calls(pairs), answers, ignored), FUNCTIONS[number])
        assert walk.ask(CodePlace(FUNCTIONS[number], ())) == expected


def test_functions_that_meet_in_the_same_callers_are_visited_once() -> None:
    """The number of questions grows with the number of calls."""
    layers = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    pairs = [
        (caller, called)
        for upper, lower in zip(layers[1:], layers[:-1], strict=True)
        for caller in upper
        for called in lower
    ]
    walk = Everywhere(Calls(pairs), dict.fromkeys(layers[-1], True), -1)
    assert walk.ask(CodePlace(FUNCTIONS[0], ())) is True
    assert walk.visits == 1 + 3 + 9 + 9  # once for each call; 40 times if each way is walked by itself
