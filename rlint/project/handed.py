"""Whether what callers hand to a parameter is another thing in each pass of the loops around their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.regex import regex

if TYPE_CHECKING:
    from rlint.project.heat import HeatMap
    from rlint.project.summary import FunctionSummary

_WORD = regex(r"[^\W\d]\w*")
_DEPTH = 3


def takes_loop_items(heat: HeatMap, function: FunctionSummary, parameter: str, depth: int = _DEPTH) -> bool:
    """Does a call in warm or hot code hand the variable of a loop around it to a parameter, directly or
    through the callers' own parameters?
    """
    if depth == 0 or parameter not in function.parameters:
        return False
    place = function.parameters.index(parameter)
    place -= function.is_method and not function.is_static
    for level, edge in heat.callers(function):
        names = dict(edge.site.names)
        name = names.get(parameter) or names.get(str(place)) or ""
        if level is Heat.COLD or not name:
            continue
        loop = edge.site.loop
        while 0 <= loop < len(edge.caller.loops):
            if name in _variables(edge.caller.loops[loop].header):
                return True
            loop = edge.caller.loops[loop].parent
        if takes_loop_items(heat, edge.caller, name, depth - 1):
            return True
    return False


def _variables(header: str) -> set[str]:
    """The variables of `for name, path in …`."""
    target = header.removeprefix("for ").partition(" in ")[0] if header.startswith("for ") else ""
    return set(_WORD.findall(target))
