"""Cadence of a line: the environment or gradient step that it runs with, and the conditions in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.semantics.frequency.callers import CallerWalk, CodePlace, IncomingCall
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.frequency.likely_roles.training_hooks import OF_FRAMEWORK
from rlint.semantics.frequency.rollouts.collected import COUNTING, is_per_rollout
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap

_DEPTH = 4
"""Maximum number of calls that are followed from a line to the loop of a few iterations that runs it."""
FEW_CALLS = 2
"""As many calls in one iteration are the parts of a pair, such as an actor and a critic."""
_OVER_PARTS = regex(
    r"\b(agents?|critics?|nets?|networks?|models?|members?|heads?|optim\w*|envs?|players?|workers?|polic(y|ies)|i|j)\b"
)
"""Words in headers of loops over a few networks or environments, each of which learns once."""


@frozen
class Cadence:
    """The training loop that runs a line, as far as it is known.

    `drivers` run once in each iteration of it (see loops.py) and `nested` many times; if they are in the
    function of the line itself or around the calls that lead to it, there may be no loop. `guards` are the
    conditions between the loop and the line, on the path with the fewest of them, innermost first; the
    conditions `around` are outside of the loop, in the function that contains it. `calls` are the functions
    entered between the loop and the line, the line's own last; if empty, `loop` is the index of the loop in
    the line's function (-1 if there is none). `header` is the source of the loop header, if there is a loop.
    It `resets` if each iteration calls `reset` outside of nested loops, or a function that plays an episode
    and begins with `reset`, and is `layered` if one of the nested loops contains the loop over environment
    steps (epochs of episodes of steps). `inner` is what its inner loops drive that run in each iteration and
    count (`range(n_steps)`, `while not done`) or learn from one batch
    after the other: the rest of `nested` may be the parts of a vectorised environment, or a few agents.
    `within` is the qualified name of the function that contains the loop, or that drives without one.
    `updating` are the guards that govern the gradient steps of their function as well, so that the line runs
    with each of these. The line is `repeated` if an iteration runs it several times: in loops over inner
    work, or because one of the functions is called several times. The calls alone run it `runs` times. It
    runs `per_rollout` if the loop has a small constant number of iterations, such as one for each agent, and
    follows a rollout: a loop around it collects many steps of environments first.
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
    inner: frozenset[Driver] = frozenset()
    within: str = ""
    repeated: bool = False
    runs: int = 1
    updating: tuple[Guard, ...] = ()
    per_rollout: bool = False

    @property
    def is_of_framework(self) -> bool:
        """Whether the loop is that of a training framework, which calls a hook."""
        return self.within == OF_FRAMEWORK

    @property
    def only_steps_environment(self) -> bool:
        """Whether an iteration steps an environment and drives nothing else."""
        return self.drivers == {Driver.ENVIRONMENT_STEP}


class Cadences(CallerWalk[Cadence]):
    """The cadences of all lines of a project; None if no code that leads to a line drives anything. Of
    several callers, the hottest decide, and among these the one with the fewest conditions.
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat
        self._resetting: dict[str, frozenset[int]] = {}

    def here(self, place: CodePlace) -> Cadence | None:
        """Return the cadence from a loop of the line's own function, or that of the function for its
        callers.
        """
        function = place.function
        guards = self._heat.settled(place.guards, function)
        driven = self._heat.loops_driven_by(function)
        for position, index in enumerate(place.loops):
            if index < len(driven) and any(driven[index]):
                inside = [guard for guard in guards if index in function.loops_from(guard.loop)]
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
                    inner=_driven_within(function, index, place, driven),
                    within=function.path,
                    repeated=_repeats(function, place.loops[:position]),
                    updating=_of_updates(inside, function),
                    per_rollout=is_per_rollout(place, self._heat),
                )
        once, many = self._heat.driven_by(function)
        hook = self._heat.hook(function)
        if hook is not None:
            return Cadence(
                hook.drivers,
                hook.nested,
                guards,
                header=hook.header,
                resets=hook.resets,
                within=hook.within,
                repeated=_repeats(function, place.loops),
                updating=_of_updates(guards, function),
            )
        if _plays_episode(function):
            once -= {Driver.ENVIRONMENT_STEP}  # `reset` begins with a step
        if not once and self._heat.learns_by_role(function):
            once = frozenset({Driver.GRADIENT_STEP})
        if not once:
            return None
        return Cadence(
            once,
            many,
            guards,
            within=function.path,
            repeated=_repeats(function, place.loops),
            updating=_of_updates(guards, function),
            per_rollout=is_per_rollout(place, self._heat),
        )

    def _resets(self, function: FunctionSummary, loop: int) -> bool:
        """Whether each iteration of a loop calls `reset` itself, or a function that does so once."""
        loops = self._resetting.get(function.path)
        if loops is None:
            playing = (
                edge.site.loop
                for edge in self._heat.graph.calls(function.path)
                if _plays_episode(edge.target) and _begins(edge.target)
            )
            own = (call.loop for call in function.calls if call.method == "reset")
            loops = self._resetting[function.path] = frozenset((*own, *playing))
        return loop in loops

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call runs more than once."""
        return call.level is not Heat.COLD

    def join(self, answers: Iterator[tuple[IncomingCall, Cadence]]) -> Cadence | None:
        """Return the cadence from the hottest call; of several, the one with the fewest conditions. Calls in
        evaluations count only if there are no others.
        """
        ways = list(answers)
        if len(ways) > 1:
            ways = [way for way in ways if not self._heat.is_evaluation(way[0].place)] or ways
        way = min(ways, key=lambda way: (-way[0].level, len(way[1].guards), way[1].calls), default=None)
        if way is None:
            return None
        together = [each for each, _ in ways if _run_together(each, way[0])]
        repeated = way[1].repeated or len(together) > FEW_CALLS
        return replace(way[1], repeated=repeated, runs=way[1].runs * max(1, len(together)))

    def past(self, place: CodePlace, answer: Cadence) -> Cadence:
        """Add the conditions of the place, in its function, to a cadence."""
        guards = self._heat.settled(place.guards, place.function)
        called = (*answer.calls, place.function.path)
        repeated = answer.repeated or _repeats(place.function, place.loops)
        updating = (*_of_updates(guards, place.function), *answer.updating)
        return replace(
            answer, guards=(*guards, *answer.guards), calls=called, repeated=repeated, updating=updating
        )


def _of_updates(guards: Sequence[Guard], function: FunctionSummary) -> tuple[Guard, ...]:
    """Return the guards that govern all gradient steps which a function takes itself."""
    lines = function.update_conditions
    return tuple(guard for guard in guards if guard.line in lines) if lines else ()


def _plays_episode(function: FunctionSummary) -> bool:
    """Whether a function steps an environment itself, but only in its loops."""
    if Driver.ENVIRONMENT_STEP in function.drivers:
        return False
    return any(Driver.ENVIRONMENT_STEP in loop.drivers for loop in function.loops)


def _begins(function: FunctionSummary) -> bool:
    """Whether a function calls `reset` outside of its loops."""
    return any(call.method == "reset" and call.loop == -1 for call in function.calls)


def _repeats(function: FunctionSummary, loops: Sequence[int]) -> bool:
    """Whether one of some loops of a function runs more than a few times."""
    return any(not function.loops[index].bounded for index in loops)


def _run_together(call: IncomingCall, other: IncomingCall) -> bool:
    """Whether two calls of one function run in the same iteration of a loop."""
    one, two = call.edge, other.edge
    return one.caller is two.caller and one.site.loop == two.site.loop and one.site.guards == two.site.guards


def _driven_within(
    function: FunctionSummary,
    index: int,
    place: CodePlace,
    driven: Sequence[tuple[frozenset[Driver], frozenset[Driver]]],
) -> frozenset[Driver]:
    """Return what the counting loops inside of a loop drive in each iteration, except those around a
    place.
    """
    found: set[Driver] = set()
    for inner, loop in enumerate(function.loops[: len(driven)]):
        is_within = index in function.loops_from(loop.parent) and inner not in place.loops
        if not is_within or loop.bounded:
            continue
        drives = driven[inner][0] | driven[inner][1]
        if not COUNTING.search(loop.header):
            learns = Driver.GRADIENT_STEP in drives and not _OVER_PARTS.search(loop.header)
            drives = frozenset({Driver.GRADIENT_STEP}) if learns else frozenset()
        if not any(index in function.loops_from(guard.loop) for guard in loop.guards):
            found |= drives
    return frozenset(found)
