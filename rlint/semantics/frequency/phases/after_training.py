"""Code that runs after the training, such as the plot of its rewards, or a demonstration of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.semantics.frequency.callers import CodePlace
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.frequency.roles import looks_on
from rlint.semantics.interprocedural.summary import FunctionSummary

if TYPE_CHECKING:
    from rlint.semantics.frequency.heat import HeatMap

_MOST_CALLS = 3
"""Maximum number of calls from the code after a training to a line."""


class AfterTraining:
    """The places that run only after a training loop, or after a call of a function that holds one, and that
    no loop repeats which steps an environment or learns: all calls of their functions are known, and follow
    one. A function that renders each step to show the result may step an environment.
    """

    def __init__(self, heat: HeatMap) -> None:
        self._heat = heat
        self._known: dict[tuple[str, int], bool] = {}

    def includes(self, place: CodePlace, line: int) -> bool:
        """Whether a place, with its line, runs only after a training."""
        if self._is_driven(place):
            return _shows(place.function) and self._is_called_after(place.function, _MOST_CALLS)
        return self._follows(place, line) or self._is_called_after(place.function, _MOST_CALLS)

    def _is_called_after(self, function: FunctionSummary, depth: int) -> bool:
        key = function.path, depth
        if key not in self._known:
            calls = self._heat.callers(function) if depth and function.qualname else []
            self._known[key] = (
                bool(calls)
                and not self._heat.may_be_called(function)
                and all(
                    not self._is_driven(call.place)
                    and (
                        self._follows(call.place, call.edge.site.line)
                        or self._is_called_after(call.edge.caller, depth - 1)
                    )
                    for call in calls
                )
            )
        return self._known[key]

    def _is_driven(self, place: CodePlace) -> bool:
        """Whether a loop around a place steps an environment, learns or does something else that is hot."""
        driven = self._heat.loops_driven_by(place.function)
        return any(any(driven[index]) for index in place.loops if index < len(driven))

    def _follows(self, place: CodePlace, line: int) -> bool:
        """Whether a training comes before a place in its function, under no other conditions, and the loops
        around the place go through items: others may be main loops that are not understood.
        """
        function = place.function
        if any(_may_go_on(function.loops[index].header) for index in place.loops):
            return False
        if not self._runs_once(function):
            return False
        driven = self._heat.loops_driven_by(function)
        loops = zip(function.loops, driven, strict=False)
        if any(
            loop.parent == -1 and loop.line < line and _always(loop.guards, place.guards)
            for loop, (once, many) in loops
            if Driver.GRADIENT_STEP in once | many
        ):
            return True
        return any(
            edge.site.loop == -1 and edge.site.line < line and _always(edge.site.guards, place.guards)
            for edge in self._heat.graph.calls(function.path)
            if Driver.GRADIENT_STEP in self._heat.driven_by(edge.target)[1]
        )

    def _runs_once(self, function: FunctionSummary, depth: int = _MOST_CALLS) -> bool:
        """Whether a function is the code of a file, or such code runs it outside of all hot loops: an update
        of many gradient steps is no whole training.
        """
        if not function.qualname:
            return True
        calls = self._heat.callers(function) if depth else []
        return (
            bool(calls)
            and not self._heat.may_be_called(function)
            and all(
                not self._is_driven(call.place) and self._runs_once(call.edge.caller, depth - 1)
                for call in calls
            )
        )


def _may_go_on(header: str) -> bool:
    return not header.startswith("for ") or "range(" in header


def _always(guards: tuple[Guard, ...], around: tuple[Guard, ...]) -> bool:
    """Whether a place runs only if something else does as well, given the conditions of both."""
    return all(guard in around for guard in guards)


def _shows(function: FunctionSummary) -> bool:
    """Whether a function shows the steps of a policy, judging by its name and its calls."""
    return looks_on(function.name) and any(site.method == "render" for site in function.calls)
