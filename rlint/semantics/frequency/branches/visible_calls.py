"""Functions of which all calls are visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallEdge
    from rlint.semantics.interprocedural.summary import FunctionSummary

MOST_CALLS = 30
"""Maximum number of calls that are compared."""
ANY_CALLER = frozenset({"forward", "__call__"})
"""Functions that frameworks call with arguments that no call of the project shows."""


def visible_calls(function: FunctionSummary, heat: HeatMap) -> list[CallEdge]:
    """Return all calls of a function, tests excluded; none if there may be others, or too many."""
    calls = heat.callers(function)
    if len(calls) > MOST_CALLS or function.name in ANY_CALLER or heat.may_be_called(function):
        return []
    return [call.edge for call in calls]
