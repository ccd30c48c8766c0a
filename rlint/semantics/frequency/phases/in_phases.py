"""Queries about a line that its callers answer: whether it runs at the beginning, or in loops that wait."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.regex import regex
from rlint.semantics.frequency.callers import CallerWalk, CodePlace, IncomingCall
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap

_MOST_STEPS = 100_000
"""Maximum number of steps in a warm-up phase."""
_MOST_FRAMES = 120
"""Maximum number of frames per second of a loop that waits for most of its time."""
_CLOCKS = regex(r"(^|_)(clock|fps_?clock|timer)$")
_RATES = regex(r"(^|_)rate(_?\w*)$")
_FRAMES = regex(r"fps|frame_?rate|frames_per|^hz$|_hz$|frequency")
_IN_A_FRAME = regex(r"speed|per_(frame|tick|render)|sub_?steps|frame_?skip|\bevents?\b")
"""Words in the headers of loops over the few steps, or events, of one frame."""
_PICTURES = regex(r"screen_?shot|thumbnail")
_MOST_CALLS = 3
"""Maximum number of calls from a loop to the function that waits."""


class InBeginning(CallerWalk[bool]):
    """Whether a line runs only at the beginning of a run: on all call paths to it there is a condition or a
    loop of a warm-up phase (see beginnings.py).
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat

    def here(self, place: CodePlace) -> bool | None:
        """Return the answer from the conditions and loops of the function; False if nothing calls it."""
        function = place.function
        limits = [guard.begins for guard in place.guards if guard.begins]
        limits += [name for index in place.loops if (name := function.loops[index].begins)]
        if any(self._is_short(name, function) for name in limits) and not self._is_created_often(function):
            return True
        return None if self._heat.callers(function) and not self._heat.may_be_called(function) else False

    def _is_short(self, limit: str, function: FunctionSummary) -> bool:
        """Whether a program sets the number of steps of the beginning to no more than usual."""
        steps = self._heat.usual_setting(limit, function.module)
        return steps is None or steps <= _MOST_STEPS

    def _is_created_often(self, function: FunctionSummary) -> bool:
        """Whether the objects whose method a function is are created in training: each begins again."""
        cls = self._heat.index.owner_of(function)
        maker = self._heat.index.method(cls, "__init__") if cls is not None else None
        if not isinstance(maker, FunctionSummary):
            return False
        return self._heat.of_function(maker.path).level is not Heat.COLD

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call runs more than once."""
        return call.level is not Heat.COLD

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool:
        """Return whether it holds for all calls."""
        found = [begins for _, begins in answers]
        return bool(found) and all(found)


class InRealTime(CallerWalk[bool]):
    """Whether a line runs only in loops that wait for the clock in each iteration, such as the loop of a
    window: `clock.tick(60)`, or `rate.sleep()` of a robot; or in those of demonstrations, which pause
    (`time.sleep(0.02)`) in functions that take no gradient step.
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat

    def here(self, place: CodePlace) -> bool | None:
        """Return the answer from the loops of the function: False in a loop over gradient steps or many
        environment steps that does not wait; and if nothing calls it.
        """
        function = place.function
        driven = self._heat.loops_driven_by(function)
        for index in place.loops:
            if index in self._waiting.get(function.path, ()):
                return True
            loop = function.loops[index]
            if loop.pauses and not self._heat.learns(function):
                return True
            if loop.bounded or _IN_A_FRAME.search(loop.header.lower()):
                continue
            once, many = driven[index] if index < len(driven) else (frozenset(), frozenset())
            if (once | many) & {Driver.GRADIENT_STEP, Driver.ENVIRONMENT_STEP}:
                return False
        if self._heat.has_role(function):
            return False  # code outside of the project may call it in training
        return None if self._heat.callers(function) else False

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call runs more than once, and not only to save a picture of the window."""
        return call.level is not Heat.COLD and not _PICTURES.search(call.edge.caller.module.lower())

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool:
        """Return whether it holds for all calls."""
        found = [waits for _, waits in answers]
        return bool(found) and all(found)

    @cached_property
    def _waiting(self) -> dict[str, frozenset[int]]:
        """Return the loops that wait in each iteration, themselves or in a function that they call; -1 for a
        function that waits once in each call.
        """
        found: dict[str, set[int]] = {}
        pending: list[FunctionSummary] = []
        for module in self._heat.index.modules.values():
            for function in () if module.is_test else module.functions.values():
                loops = {site.loop for site in function.calls if _waits(site) and _is_always(site, function)}
                if loops:
                    found[function.path] = loops
                    pending.append(function)
        for _ in range(_MOST_CALLS):
            waiting, pending = [each for each in pending if -1 in found[each.path]], []
            for each in waiting:
                for edge in self._heat.graph.callers(each.path):
                    known = found.setdefault(edge.caller.path, set())
                    if edge.site.loop not in known and _is_always(edge.site, edge.caller):
                        known.add(edge.site.loop)
                        pending.append(edge.caller)
        return {path: frozenset(loops) for path, loops in found.items()}


def _waits(site: CallSite) -> bool:
    """Whether a call waits until it is time for the next frame, or the next message to a robot."""
    receiver = site.receiver.lower()
    if site.method in ("tick", "tick_busy_loop") and _CLOCKS.search(receiver) and site.arguments:
        frames = dict(site.numbers)
        if frames:
            return all(0 < number <= _MOST_FRAMES for number in frames.values())
        return any(_FRAMES.search(name.lower()) for _, name in site.names)
    return site.method == "sleep" and bool(_RATES.search(receiver)) and not site.arguments


def _is_always(site: CallSite, function: FunctionSummary) -> bool:
    """Whether a call runs in each iteration of its loop, or in each call of its function."""
    outside: tuple[Guard, ...] = function.loops[site.loop].guards if site.loop >= 0 else ()
    return site.each_pass is not False and all(guard in outside for guard in site.guards)
