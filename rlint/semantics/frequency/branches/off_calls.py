"""Functions that a program calls only if an option has another value than by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.semantics.frequency.branches.visible_calls import visible_calls

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallEdge
    from rlint.semantics.interprocedural.mentions.program_usage import ProgramUsage
    from rlint.semantics.interprocedural.summary import FunctionSummary

_DEPTH = 4
"""Maximum number of calls between a function and the test of the option."""


class OffCalls:
    """The functions of which all calls stand under tests of options that fail by default, wherever in the
    project they are.
    """

    def __init__(self, heat: HeatMap, usage: ProgramUsage) -> None:
        self._heat, self._usage = heat, usage
        self._known: dict[tuple[str, int], str] = {}

    def why(self, function: FunctionSummary, depth: int = _DEPTH) -> str:
        """Return why the program does not call a function by default; "" if it may call it."""
        if not function.qualname or depth <= 0:
            return ""
        key = function.path, depth
        if key not in self._known:
            reasons = [self._why_not_made(call, depth) for call in visible_calls(function, self._heat)]
            self._known[key] = reasons[0] if reasons and all(reasons) else ""
        return self._known[key]

    def _why_not_made(self, call: CallEdge, depth: int) -> str:
        """Return why a call is not made by default, or its caller is not called."""
        reasons = (self._usage.why_false(each, call.caller.module) for each in call.site.choices)
        return next((reason for reason in reasons if reason), "") or self.why(call.caller, depth - 1)
