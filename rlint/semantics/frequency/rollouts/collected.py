"""Rollouts that a training loop collects before it learns from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.regex import regex
from rlint.semantics.frequency.callers import CodePlace
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap

    _LoopTest = Callable[[FunctionSummary, int, HeatMap], bool]

_DEPTH = 4
"""Maximum number of calls that are followed from a line to the loop that runs it."""
COUNTING = regex(r"^while\b|\brange\(")
"""Headers of loops that run many times. Other loops often iterate over a few agents or environments."""
_OF_EPOCHS = regex(r"epoch|passes")
"""Words in headers of loops that pass over the same data a few times."""


def is_once_per_rollout(place: CodePlace, heat: HeatMap) -> bool:
    """Whether the loop that makes a place hot collects a rollout in each iteration, or passes over one a few
    times.
    """
    follows = partial(_follows_rollout, epochs=True)
    return _holds_for_loops(place, heat, follows) or _holds_for_loops(place, heat, _calls_rollout)


def is_per_rollout(place: CodePlace, heat: HeatMap) -> bool:
    """Whether all loops that make a place hot have a few iterations, and follow a rollout."""
    return _holds_for_loops(place, heat, _follows_rollout)


def _holds_for_loops(place: CodePlace, heat: HeatMap, test: _LoopTest, depth: int = _DEPTH) -> bool:
    """Whether all loops that make a place hot pass a test: the innermost that drives anything, here or else
    at each hot call.
    """
    driven = heat.loops_driven_by(place.function)
    for index in place.loops:
        if index < len(driven) and any(driven[index]):
            return test(place.function, index, heat)
    if depth <= 0:
        return False
    calls = [call for call in heat.callers(place.function) if call.level is Heat.HOT]
    return bool(calls) and all(_holds_for_loops(call.place, heat, test, depth - 1) for call in calls)


def _follows_rollout(function: FunctionSummary, index: int, heat: HeatMap, *, epochs: bool = False) -> bool:
    """Whether a loop has a few iterations (with `epochs`, or counts passes over the rollout), and an
    iteration of the loop around it collects many steps.
    """
    loop, driven = function.loops[index], heat.loops_driven_by(function)
    is_short = loop.bounded or (epochs and _OF_EPOCHS.search(loop.header.lower()) is not None)
    if not is_short or loop.parent < 0 or Driver.ENVIRONMENT_STEP in driven[index][0] | driven[index][1]:
        return False
    once, many = driven[loop.parent]
    if Driver.ENVIRONMENT_STEP not in many:
        return False
    return Driver.ENVIRONMENT_STEP not in once or _calls_rollout(function, loop.parent, heat)


def collects(place: CodePlace, heat: HeatMap, depth: int = _DEPTH) -> bool:
    """Whether a loop that makes a place hot, or one around it, steps environments."""
    driven = heat.loops_driven_by(place.function)
    if any(
        Driver.ENVIRONMENT_STEP in driven[index][0] | driven[index][1]
        and _steps_in_training(place.function, index, heat)
        for index in place.loops
    ):
        return True
    if depth <= 0:
        return False
    calls = (call for call in heat.callers(place.function) if call.level is not Heat.COLD)
    return any(collects(call.place, heat, depth - 1) for call in calls if not heat.is_evaluation(call.place))


def _steps_in_training(function: FunctionSummary, loop: int, heat: HeatMap) -> bool:
    """Whether what steps environments in a loop is more than an evaluation."""
    if any(
        Driver.ENVIRONMENT_STEP in each.drivers
        for index, each in enumerate(function.loops)
        if loop in function.loops_from(index)
    ):
        return True
    return any(
        loop in function.loops_from(edge.site.loop)
        and Driver.ENVIRONMENT_STEP in frozenset().union(*heat.driven_by(edge.target))
        and not heat.is_evaluation(CodePlace(edge.target, ()))
        for edge in heat.graph.calls(function.path)
    )


def _calls_rollout(function: FunctionSummary, loop: int, heat: HeatMap) -> bool:
    """Whether an iteration of a loop calls a function that collects a rollout, and steps nothing itself."""
    if Driver.ENVIRONMENT_STEP in function.loops[loop].drivers:
        return False
    return any(
        edge.site.loop == loop
        and not edge.site.guards
        and _collects_rollout(edge.target)
        and not heat.is_evaluation(CodePlace(edge.target, ()))
        for edge in heat.graph.calls(function.path)
    )


def _collects_rollout(function: FunctionSummary) -> bool:
    """Whether a function steps environments in a loop that counts."""
    return any(
        Driver.ENVIRONMENT_STEP in loop.drivers and not loop.bounded and COUNTING.search(loop.header)
        for loop in function.loops
    )
