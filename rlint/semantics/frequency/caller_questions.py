"""Queries about a line that its callers answer: whether it runs in each iteration, by role, for training, or
for an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.semantics.frequency.callers import CallerWalk, CodePlace, IncomingCall
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.roles import evaluates
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap


class EachPass(CallerWalk[bool]):
    """Whether a line runs in every run of the code that makes it as hot as `level`. False if in doubt:
    under an interval, here or at all of its callers, and if no caller is known.
    """

    def __init__(self, heat: HeatMap, level: Heat) -> None:
        super().__init__(heat)
        self._heat = heat
        self._level = level

    def here(self, place: CodePlace) -> bool | None:
        """Return the answer from the conditions, loops and gradient steps of the function itself."""
        function = place.function
        own = self._heat.holds(function, place.guards, each_pass=place.each_pass)
        levels = self._heat.loop_levels(function)
        for index in place.loops:
            if own is not None:
                return own
            if index < len(levels) and levels[index] is not None:
                return True
            loop = function.loops[index]
            own = self._heat.holds(function, loop.guards, each_pass=loop.each_pass)
        if own is not None:
            return own
        once, many = self._heat.driven_by(function)
        if Driver.GRADIENT_STEP in once or self._heat.is_declared_warm(function):
            return True
        return False if Driver.GRADIENT_STEP in many else None  # after the epochs over a rollout

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call happens as often as the line is assumed to run."""
        return call.level >= self._level

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool:
        """Return whether it holds for one of the calls."""
        return any(found for _, found in answers)


class ByRole(CallerWalk[bool]):
    """Whether a function is known to run often only by its name or its body: no code of the project calls it,
    or such functions call it on each call.
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat

    def here(self, place: CodePlace) -> bool | None:
        """Return the answer from its role, if no code calls it."""
        if self._heat.of_function(place.function.path).level is Heat.COLD:
            return False
        return None if self._heat.callers(place.function) else self._heat.has_role(place.function)

    def counts(self, call: IncomingCall) -> bool:
        """Whether a call outside of all loops happens as often as the function runs."""
        site = call.edge.site
        once = site.loop == -1 and site.each_pass is not False
        return once and call.level is self._heat.of_function(call.edge.target.path).level

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool:
        """Return whether it holds for one of the callers."""
        return any(found for _, found in answers)


Way = tuple[str, ...]
"""The call path to a line: the functions entered, outermost first."""


class WaysFromTraining(CallerWalk["list[Way]"]):
    """The call paths to a line from the loops that take gradient steps, the loop's function first."""

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat

    def here(self, place: CodePlace) -> list[Way] | None:
        """Return the path that begins in the function itself."""
        driven = self._heat.loops_driven_by(place.function)
        learns = any(Driver.GRADIENT_STEP in once | many for once, many in (driven[i] for i in place.loops))
        return [(place.function.path,)] if learns else None

    def join(self, answers: Iterator[tuple[IncomingCall, list[Way]]]) -> list[Way]:
        """Return the ways of all calls."""
        return [way for _, ways in answers for way in ways]

    def past(self, place: CodePlace, answer: list[Way]) -> list[Way]:
        """Return the ways with the function at their end."""
        return [(*way, place.function.path) for way in answer]


class CallsLeadingTo(CallerWalk[frozenset[tuple[str, str]]]):
    """The calls on all known paths to a line, as pairs of the paths of the caller and the function called."""

    def here(self, place: CodePlace) -> frozenset[tuple[str, str]] | None:
        """Return no calls for a function that nothing calls."""
        return None if self._calls.callers(place.function) else frozenset()

    def join(
        self, answers: Iterator[tuple[IncomingCall, frozenset[tuple[str, str]]]]
    ) -> frozenset[tuple[str, str]]:
        """Return the calls that lead to the callers, and the callers with a function yet to be named."""
        found: set[tuple[str, str]] = set()
        for call, earlier in answers:
            found.update(earlier)
            found.add((call.edge.caller.path, ""))
        return frozenset(found)

    def past(self, place: CodePlace, answer: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return the calls with the function that the last of them run."""
        return frozenset((caller, called or place.function.path) for caller, called in answer)


class InEvaluation(CallerWalk[bool]):
    """Whether a line runs only in evaluations and demonstrations: on all call paths to it there is a function
    with a loop or a script that evaluates, judging by its name, or a loop that renders and never learns.
    """

    def __init__(self, heat: HeatMap) -> None:
        super().__init__(heat)
        self._heat = heat

    def here(self, place: CodePlace) -> bool | None:
        """Return the answer from the name of the function and its loops; False if nothing calls it."""
        function = place.function
        if place.loops and self._renders_only(function, place.loops[-1]):
            return True
        if self._heat.learns(function):
            return False
        if evaluates(function.name) and (any(self._heat.driven_by(function)) or self._loops(function)):
            return True
        if not function.name and self._heat.is_evaluation_script(function):
            return True
        if self._heat.has_role(function):
            # code outside of the project may call it in training
            return function.is_method and self._is_called_by_evaluations(function)
        return None if self._heat.callers(function) else False

    def _is_called_by_evaluations(self, method: FunctionSummary) -> bool:
        """Whether the project calls methods of this name, and only in functions that evaluate: as offline
        learning does, where the policy acts in no other place.
        """
        callers = self._by_name.get(method.name, ())
        return bool(callers) and all(
            not self._heat.learns(caller)
            and evaluates(caller.name)
            and (any(self._heat.driven_by(caller)) or self._loops(caller))
            for caller in callers
        )

    @cached_property
    def _by_name(self) -> dict[str, list[FunctionSummary]]:
        """Return the functions that call methods, by the name of the method."""
        found: dict[str, list[FunctionSummary]] = {}
        for module in self._heat.index.modules.values():
            for caller in () if module.is_test else module.functions.values():
                for name in {site.method for site in caller.calls} - {""}:
                    found.setdefault(name, []).append(caller)
        return found

    def _loops(self, function: FunctionSummary) -> bool:
        """Whether a function has a loop, and is no method of a network: `policy.evaluate(batch)` may be part
        of a loss.
        """
        owner = self._heat.index.modules[function.module].classes.get(function.qualname.rpartition(".")[0])
        return bool(function.loops) and (owner is None or "forward" not in owner.methods)

    def _renders_only(self, function: FunctionSummary, loop: int) -> bool:
        """Whether an outermost loop of code that only modules call once, such as `main`, renders each of its
        environment steps and takes no gradient step.
        """
        edges = (call.edge for call in self._heat.callers(function))
        if any(edge.caller.name or edge.site.loop >= 0 for edge in edges):
            return False
        driven = self._heat.loops_driven_by(function)
        once, many = driven[loop] if loop < len(driven) else (frozenset(), frozenset())
        if Driver.GRADIENT_STEP in once | many or Driver.ENVIRONMENT_STEP not in once | many:
            return False
        return any(
            call.method == "render" and call.each_pass is not False and loop in function.loops_from(call.loop)
            for call in function.calls
        )

    def join(self, answers: Iterator[tuple[IncomingCall, bool]]) -> bool:
        """Return whether it holds for all calls."""
        found = [evaluated for _, evaluated in answers]
        return bool(found) and all(found)
