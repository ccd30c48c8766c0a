"""Functions that are called in nested loops, although no driver of training is known in these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.semantics.frequency.callers import MOST_CALLERS

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.summary import FunctionSummary

MOST_LOOPS = 3


def loops_at_calls(function: FunctionSummary, heat: HeatMap, known: dict[str, int]) -> int:
    """Return how many loops are around the calls that lead to a function, on the path with most of them, up
    to `MOST_LOOPS`. Loops over a few constant items do not count, nor do tests. `known` keeps the results.
    """
    if function.path in known:
        return known[function.path]
    known[function.path] = most = 0  # a recursive call adds nothing
    for edge in heat.graph.callers(function.path)[:MOST_CALLERS]:
        caller = edge.caller
        if heat.graph.index.modules[caller.module].is_test:
            continue
        own = sum(not caller.loops[loop].bounded for loop in caller.loops_from(edge.site.loop))
        if own < MOST_LOOPS:
            own += loops_at_calls(caller, heat, known)
        most = max(most, own)
        if most >= MOST_LOOPS:
            break
    known[function.path] = min(most, MOST_LOOPS)
    return known[function.path]
