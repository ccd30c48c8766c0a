"""Lines that run a few times after each rollout: in a loop over the agents that learn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.callers import CodePlace
    from rlint.semantics.frequency.heat import HeatMap

_DEPTH = 4
"""Maximum number of calls between the loop and the line."""


def is_per_rollout(place: CodePlace, heat: HeatMap, depth: int = _DEPTH) -> bool:
    """Whether all loops that make a place hot have a small constant number of iterations, and run once after
    a rollout: a loop around them collects many steps of environments first.
    """
    driven = heat.loops_driven_by(place.function)
    for index in place.loops:
        if index < len(driven) and any(driven[index]):
            return _follows_rollout(place.function, index, heat)
    if depth <= 0:
        return False
    calls = [call for call in heat.callers(place.function) if call.level is Heat.HOT]
    return bool(calls) and all(is_per_rollout(call.place, heat, depth - 1) for call in calls)


def _follows_rollout(function: FunctionSummary, index: int, heat: HeatMap) -> bool:
    """Whether a loop has a few iterations, and an iteration of the loop around it collects many steps."""
    loop, driven = function.loops[index], heat.loops_driven_by(function)
    if not loop.bounded or loop.parent < 0 or Driver.ENVIRONMENT_STEP in driven[index][0] | driven[index][1]:
        return False
    once, many = driven[loop.parent]
    return Driver.ENVIRONMENT_STEP in many and Driver.ENVIRONMENT_STEP not in once
