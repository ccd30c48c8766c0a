"""Environment steps that a program takes for each of its gradient steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rlint.findings import Heat
from rlint.models.vocabulary import EPISODE_LENGTHS
from rlint.semantics.frequency.callers import CallerWalk, CodePlace, IncomingCall
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard, GuardKind
from rlint.semantics.frequency.heat import OVER_MEMBERS, HeatMap
from rlint.semantics.frequency.roles import takes_gradient_step
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary, LoopSummary

_UNKNOWN = 0.0
"""The answer for a way on which a number is not known: it stays 0, whatever it is multiplied by."""
_EPISODE = 100
"""The assumed steps of an episode, and the most that count: most episodes end before the limit."""
_DEPTH = 2
"""Maximum number of calls that are followed from a training loop to the loop over environment steps."""
_LEARNING = frozenset({Driver.GRADIENT_STEP, Driver.BATCH})


class UpdateRates(CallerWalk[float]):
    """How many environment steps lie between two runs of a line, by the intervals and loops between the loop
    that steps environments and the line. Intervals count only if all gradient steps of their function are
    taken at them: how often the environment is stepped has nothing to do with a delay of the policy.
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat
        self._collected: dict[tuple[str, int, tuple[int, ...]], float | None] = {}
        self._played: dict[tuple[str, int], tuple[float, ...]] = {}

    def steps(self, place: CodePlace) -> int:
        """Return the number of environment steps; 0 if it is not known."""
        return round(self.ask(place) or _UNKNOWN)

    def here(self, place: CodePlace) -> float | None:
        """Return the number from the loops of the function itself."""
        function, driven = place.function, self._heat.loops_driven_by(place.function)
        for position, index in enumerate(place.loops):
            collected = self._collected_in(function, index, *driven[index], place.loops)
            if collected is not None:
                inside = [guard for guard in place.guards if index in function.loops_from(guard.loop)]
                return collected * self._between(function, place.loops[:position], inside)
        if self._heat.of_function(function.path).level is Heat.COLD:
            return None  # its environment steps and gradient steps are different phases
        collected = self._collected_in(function, -1, *self._heat.driven_by(function), place.loops)
        return collected * self._between(function, place.loops, place.guards) if collected else collected

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call runs more than once."""
        return call.level is not Heat.COLD

    def join(self, answers: Iterator[tuple[IncomingCall, float]]) -> float | None:
        """Return the fewest steps; the number is not known if it is not known for one of the calls. Calls in
        evaluations count only if there are no others.
        """
        ways = list(answers)
        if len({steps for _, steps in ways}) > 1:
            ways = [way for way in ways if not self._heat.is_evaluation(way[0].place)] or ways
        return min((steps for _, steps in ways), default=None)

    def past(self, place: CodePlace, answer: float) -> float:
        """Multiply by the intervals in the function of the place, and divide by its updates."""
        return answer * self._between(place.function, place.loops, place.guards)

    def _between(self, function: FunctionSummary, loops: Sequence[int], guards: Collection[Guard]) -> float:
        """Return the number of visits of a part of a function for each run of a line in these loops of it,
        under these guards.
        """
        visits = 1.0
        driven = self._heat.loops_driven_by(function)
        for index in loops:
            loop = function.loops[index]
            learns = not _LEARNING.isdisjoint(driven[index][0] | driven[index][1])
            # in an environment of several agents, each step acts with all of them
            if not learns or OVER_MEMBERS.search(loop.header):
                continue
            passes = self._passes(loop, function)
            if passes is None and not loop.bounded:
                return _UNKNOWN
            visits /= passes or 1
        for guard in {guard.text: guard for guard in guards}.values():
            if guard.kind is GuardKind.INTERVAL and self._governs(guard, function):
                visits *= self._period(guard, function) or 1
            elif guard.kind is GuardKind.ENDS and self._governs(guard, function):
                visits *= self._episode(function)
        return visits

    def _governs(self, guard: Guard, function: FunctionSummary) -> bool:
        """Whether a guard governs all gradient steps of the loop around it, and there are some."""
        own = function.drivers.union(*(loop.drivers for loop in function.loops))
        takes_some = Driver.GRADIENT_STEP in own
        if takes_some and guard.line not in function.update_conditions:
            return False
        calls = [
            site
            for site in self._learning_calls(function)
            if guard.loop == -1 or guard.loop in function.loops_from(site.loop)
        ]
        return (takes_some or bool(calls)) and all(
            any(other.text == guard.text for other in site.guards) for site in calls
        )

    def _learning_calls(self, function: FunctionSummary) -> list[CallSite]:
        graph = self._heat.graph
        known = [edge.site for edge in graph.calls(function.path) if self._heat.learns(edge.target)]
        return [*known, *filter(takes_gradient_step, graph.unresolved(function.path))]

    def _collected_in(
        self,
        function: FunctionSummary,
        index: int,
        once: Collection[Driver],
        many: Collection[Driver],
        around: Collection[int],
    ) -> float | None:
        """Return the environment steps in an iteration of a loop of a function, or in one run of it for -1,
        given what that drives; None if there are none in training.
        """
        if Driver.ENVIRONMENT_STEP in once and (index >= 0 or Driver.ENVIRONMENT_STEP not in many):
            return 1.0
        if Driver.ENVIRONMENT_STEP not in many:
            return None
        key = function.path, index, tuple(around)
        if key not in self._collected:
            self._collected[key] = min(self._rollouts(function, index, around, _DEPTH), default=None)
        return self._collected[key]

    def _rollouts(
        self, function: FunctionSummary, index: int, around: Collection[int], depth: int
    ) -> Iterator[float]:
        """Yield the lengths of the loops over environment steps that an iteration of a loop runs, here or in
        the functions that it calls, except those `around` the line.
        """
        driven = self._heat.loops_driven_by(function)
        for inner, loop in enumerate(function.loops):
            if inner in around or not _is_in(function, index, loop.parent) or _is_now_and_then(loop.guards):
                continue
            if Driver.ENVIRONMENT_STEP in driven[inner][0]:
                yield self._length(loop, function)
        for edge in self._heat.graph.calls(function.path) if depth > 0 else ():
            drives = self._heat.driven_by(edge.target)[1]
            if Driver.ENVIRONMENT_STEP not in drives or not _is_in(function, index, edge.site.loop):
                continue
            if _is_now_and_then(edge.site.guards):
                continue
            played = self._played_by(edge.target, depth - 1)
            if played and not self._heat.is_evaluation(CodePlace(edge.target, ())):
                yield from played

    def _played_by(self, function: FunctionSummary, depth: int) -> tuple[float, ...]:
        """Return the lengths of the loops over environment steps that one run of a function runs."""
        key = function.path, depth
        known = self._played.get(key)
        if known is None:
            known = self._played[key] = tuple(self._rollouts(function, -1, (), depth))
        return known

    def _length(self, loop: LoopSummary, function: FunctionSummary) -> float:
        """Return the number of iterations of a loop over environment steps. It plays an episode if `reset`
        comes before it.
        """
        passes = self._passes(loop, function)
        if any(call.method == "reset" and call.loop == loop.parent for call in function.calls):
            return min(passes, _EPISODE) if passes else self._episode(function)
        return passes or _UNKNOWN

    def _episode(self, function: FunctionSummary) -> int:
        """Return the length of an episode by the settings of the program, or the assumed one."""
        known = (self._heat.usual_setting(name, function.module) for name in EPISODE_LENGTHS)
        return min(next((number for number in known if number is not None), _EPISODE), _EPISODE)

    def _passes(self, loop: LoopSummary, function: FunctionSummary) -> int | None:
        return self._period(loop.length, function) if loop.length is not None else None

    def _period(self, interval: Guard, function: FunctionSummary) -> int | None:
        """Return the length of an interval, as far as the program determines it, or as it usually is."""
        period = self._heat.period(interval, function)
        if period is None and interval.decider:
            period = self._heat.usual_setting(interval.decider, function.module)
        return period


def _is_in(function: FunctionSummary, index: int, loop: int) -> bool:
    return index == -1 or index in function.loops_from(loop)


def _is_now_and_then(guards: Collection[Guard]) -> bool:
    return any(guard.kind is GuardKind.INTERVAL for guard in guards)
