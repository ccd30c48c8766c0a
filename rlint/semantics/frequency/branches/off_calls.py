"""Functions that a program calls only if an option has another value than by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallEdge
    from rlint.semantics.interprocedural.mentions.program_usage import ProgramUsage
    from rlint.semantics.interprocedural.summary import FunctionSummary

_DEPTH = 4
"""Maximum number of calls between a function and the test of the option."""
_MOST_CALLS = 30
_ANY_CALLER = frozenset({"forward", "__call__"})
"""Functions that frameworks call, too."""


class OffCalls:
    """The functions of which all calls stand under tests of options that fail by default, wherever in the
    project they are.
    """

    def __init__(self, heat: HeatMap, usage: ProgramUsage) -> None:
        self._heat, self._usage = heat, usage
        self._known: dict[str, str] = {}

    def why(self, function: FunctionSummary, depth: int = _DEPTH) -> str:
        """Return why the program does not call a function by default; "" if it may call it."""
        if not function.qualname or depth <= 0:
            return ""
        known = self._known.get(function.path)
        if known is None:
            self._known[function.path] = ""  # of recursive calls
            known = self._known[function.path] = self._why(function, depth)
        return known

    def _why(self, function: FunctionSummary, depth: int) -> str:
        calls = self._heat.callers(function)
        is_known = 0 < len(calls) <= _MOST_CALLS and function.name not in _ANY_CALLER
        if not is_known or self._heat.may_be_called(function):
            return ""
        found = ""
        for call in calls:
            found = self._why_not_made(call.edge, depth)
            if not found:
                return ""
        return found

    def _why_not_made(self, call: CallEdge, depth: int) -> str:
        """Return why a call is not made by default, or its caller is not called."""
        reasons = (self._usage.why_false(each, call.caller.module) for each in call.site.choices)
        return next((reason for reason in reasons if reason), "") or self.why(call.caller, depth - 1)
