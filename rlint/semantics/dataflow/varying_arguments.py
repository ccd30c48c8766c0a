"""Whether callers pass a different value to a parameter in each iteration of the loops around their calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.regex import regex

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.summary import FunctionSummary

_WORD = regex(r"[^\W\d]\w*")
_DEPTH = 3


def takes_loop_items(heat: HeatMap, function: FunctionSummary, parameter: str, depth: int = _DEPTH) -> bool:
    """Whether a call in warm or hot code passes an enclosing loop's variable, or an item selected with it, to
    a parameter, directly or through the callers' own parameters.
    """
    if depth == 0 or parameter not in function.call_parameters:
        return False
    place = function.call_parameters.index(parameter)
    for call in heat.callers(function):
        site, caller = call.edge.site, call.edge.caller
        names = dict(site.names)
        given = {names[key] for key in _keys(parameter, place) if key in names}
        if call.level is Heat.COLD or not given:
            continue
        if any(given & _variables(caller.loops[loop].header) for loop in caller.loops_from(site.loop)):
            return True
        if any(takes_loop_items(heat, caller, name, depth - 1) for name in given):
            return True
    return False


def _keys(parameter: str, place: int) -> Iterator[str]:
    """Yield the keys under which a call records the arguments of a parameter, with the expressions that
    select them.
    """
    for key in (parameter, str(place)):
        yield from (key, f"{key}[]")


def _variables(header: str) -> set[str]:
    """Return the variables of `for name, path in …`."""
    target = header.removeprefix("for ").partition(" in ")[0] if header.startswith("for ") else ""
    return set(_WORD.findall(target))
