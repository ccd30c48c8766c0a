"""Functions that callers call in loops: in each environment step or for each item, not once per update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.regex import regex
from rlint.semantics.frequency.callers import LONGEST_WAY, MOST_CALLERS
from rlint.semantics.frequency.drivers import Driver

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.summary import FunctionSummary


_SHOWS = regex(r"render|plot|visual|draw_")
"""Names of functions that show something, which few runs do."""


def is_called_in_loops(
    function: FunctionSummary, heat: HeatMap, *, steps: bool = False, depth: int = LONGEST_WAY
) -> bool:
    """Whether hot code calls a function in a loop, directly or through functions that take no gradient step,
    and each iteration of the loop takes an environment step, or, without `steps`, no gradient step.
    """
    once, many = heat.driven_by(function)
    if Driver.GRADIENT_STEP in once | many or depth <= 0 or _SHOWS.search(function.path.lower()):
        return False
    for call in heat.callers(function)[:MOST_CALLERS]:
        if call.level is not Heat.HOT:
            continue
        caller = call.edge.caller
        loops = call.place.loops
        if not loops:
            if is_called_in_loops(caller, heat, steps=steps, depth=depth - 1):
                return True
            continue
        direct, nested = heat.loops_driven_by(caller)[loops[0]]
        if Driver.ENVIRONMENT_STEP in direct:
            return True
        if not steps and Driver.GRADIENT_STEP not in direct | nested:
            return True
    return False
