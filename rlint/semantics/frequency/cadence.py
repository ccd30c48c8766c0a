"""What a line keeps pace with: an environment step, a gradient step; and what it waits for besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.frequency.heat import HeatMap
from rlint.semantics.interprocedural.summary import FunctionSummary

_CALLERS = 8
_CALLS = 4


@frozen
class Cadence:
    """The training loop that runs a line, as far as it is known which one that is.

    `drivers` are done once in each pass of it (see loops.py) and `nested` many times in each; where they are
    done right in the function of the line or around the calls that lead to it, there need be no loop.
    `guards` stand between the loop and the line, on the way with the fewest of them, innermost first; the
    conditions `around` stand outside of the loop, in the function that holds it. `calls` are the functions
    entered between the loop and the line, the line's own last; without them, `loop` is the index of the
    loop in the line's function (-1 where there is none). `header` is the loop as text, where there is one. It
    `resets` where each pass calls `reset` itself, outside of the loops inside of it, and is `layered` where
    one of these holds the loop over environment steps in turn (epochs of episodes of steps).
    """

    drivers: frozenset[Driver]
    nested: frozenset[Driver]
    guards: tuple[Guard, ...] = ()
    around: tuple[Guard, ...] = ()
    calls: tuple[str, ...] = ()
    loop: int = -1
    header: str = ""
    resets: bool = False
    layered: bool = False


class Cadences:
    """The beats of all lines of a project."""

    def __init__(self, heat: HeatMap) -> None:
        self._heat = heat
        self._resetting: dict[str, frozenset[int]] = {}

    def _resets(self, function: FunctionSummary, loop: int) -> bool:
        """Whether each iteration of a loop calls `reset` itself."""
        loops = self._resetting.get(function.path)
        if loops is None:
            loops = frozenset(call.loop for call in function.calls if call.method == "reset")
            self._resetting[function.path] = loops
        return loop in loops

    def of(
        self,
        function: FunctionSummary,
        loops: Sequence[int],
        guards: tuple[Guard, ...],
        seen: frozenset[str] = frozenset(),
    ) -> Cadence | None:
        """The beat of a line of `function` that stands in `loops` (their indices, innermost first) and behind
        `guards`; None where nothing that leads to it drives anything. Of several callers, those count that
        make it hottest, and of these the one with the fewest conditions.
        """
        guards = self._heat.settled(guards, function)
        driven = self._heat.loops_driven_by(function)
        for index in loops:
            if index < len(driven) and any(driven[index]):
                inside = [guard for guard in guards if _is_in(guard.loop, index, function)]
                around = [guard for guard in guards if guard not in inside]
                return Cadence(
                    *driven[index],
                    tuple(inside),
                    tuple(around),
                    loop=index,
                    header=function.loops[index].header,
                    resets=self._resets(function, index),
                    layered=any(
                        Driver.ENVIRONMENT_STEP in driven[inner][1]
                        for inner, loop in enumerate(function.loops)
                        if loop.parent == index and inner < len(driven)
                    ),
                )
        once, many = self._heat.driven_by(function)
        seen |= {function.path}
        if once:
            return Cadence(once, many, guards)
        found = [] if len(seen) > _CALLS else self._callers(function, seen)
        if not found:
            return None
        _, beat = min(found, key=lambda way: (-way[0], len(way[1].guards), way[1].calls))
        called = (*beat.calls, function.path)
        return replace(beat, guards=(*guards, *beat.guards), calls=called)

    def _callers(self, function: FunctionSummary, seen: frozenset[str]) -> list[tuple[Heat, Cadence]]:
        found: list[tuple[Heat, Cadence]] = []
        for level, edge in self._heat.callers(function)[:_CALLERS]:
            if level is Heat.COLD or edge.caller.path in seen:
                continue
            around = _chain(edge.site.loop, edge.caller)
            beat = self.of(edge.caller, around, edge.site.guards, seen)
            if beat is not None:
                found.append((level, beat))
        return found


def _is_in(loop: int, outer: int, function: FunctionSummary) -> bool:
    """Is one loop of a function the other, or inside of it?"""
    return outer in _chain(loop, function)


def _chain(loop: int, function: FunctionSummary) -> list[int]:
    """A loop and those around it, innermost first."""
    found = []
    while 0 <= loop < len(function.loops) and loop not in found:
        found.append(loop)
        loop = function.loops[loop].parent
    return found
