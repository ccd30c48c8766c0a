"""Upper bounds of the heat that the conditions around a line allow, as far as the whole program determines
them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from rlint.findings import Heat
from rlint.semantics.frequency.callers import ProgramCalls
from rlint.semantics.frequency.conditions import is_observation
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import OFTEN, RARE_UPDATE, Guard, GuardKind
from rlint.semantics.frequency.handed_lengths import HandedLengths
from rlint.semantics.frequency.program_settings import ProgramSettings
from rlint.semantics.frequency.roles import takes_gradient_step
from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary, LoopSummary

_SWITCHES = frozenset({GuardKind.SWITCH, GuardKind.OTHER})
_MOST_CALLS = 20
"""Maximum number of calls through which a parameter is followed."""
_MOST_FUNCTIONS = 200
"""Maximum number of functions examined for one parameter in recursive calls."""


class FrequencyBounds:
    """The bounds of guards: of intervals by their lengths, of switches by the values that the program sets,
    of parameters by the arguments of callers. An interval before a gradient step counts only if it is long:
    an optimizer step every ten environment steps is the purpose of the loop.
    """

    def __init__(self, graph: CallGraph, calls: ProgramCalls) -> None:
        self._graph = graph
        self._calls = calls
        self.settings = ProgramSettings(graph)
        self._handed = HandedLengths(graph, self.settings, calls)
        self._updates: dict[str, frozenset[int]] = {}
        self._rollouts: dict[str, frozenset[int]] = {}
        self._parameters: dict[tuple[str, str], Heat] = {}
        self._in_progress: list[tuple[str, str]] = []
        self._went_round = False
        self._looked_at = 0

    def of(self, guards: tuple[Guard, ...], function: FunctionSummary) -> Heat:
        """Return the hottest that a line of `function` under these guards can be."""
        return min([self.of_guard(guard, function) for guard in guards], default=Heat.HOT)

    def note_updates(
        self, once: Mapping[str, Collection[Driver]], many: Mapping[str, Collection[Driver]]
    ) -> None:
        """Record the intervals at which functions take gradient steps, given what each function drives once
        per call, and many times.
        """
        for module in self._graph.index.modules.values():
            for function in module.functions.values():
                updates, rollouts = set(function.update_intervals), set[int]()
                for edge in self._graph.calls(function.path):
                    if edge.site.guards and Driver.GRADIENT_STEP in once[edge.target.path]:
                        updates.update(_intervals(edge.site.guards))
                    elif edge.site.guards and Driver.GRADIENT_STEP in many[edge.target.path]:
                        rollouts.update(_intervals(edge.site.guards))
                for site in self._graph.unresolved(function.path):
                    if site.guards and takes_gradient_step(site):
                        updates.update(_intervals(site.guards))
                if updates:
                    self._updates[function.path] = frozenset(updates)
                if rollouts - updates:
                    self._rollouts[function.path] = frozenset(rollouts - updates)

    def unresolved(self, function: FunctionSummary) -> Sequence[CallSite]:
        """Return the calls that may lead to a function, judging by its name."""
        return self._unresolved.get(function.name, ())

    def learns_at(self, guard: Guard, function: FunctionSummary) -> bool:
        """Whether `function` takes gradient steps under an interval."""
        return any(guard.line in kept.get(function.path, ()) for kept in (self._updates, self._rollouts))

    def of_guard(self, guard: Guard, function: FunctionSummary) -> Heat:
        """Return the same for one guard, whatever loop it counts."""
        if guard.kind is GuardKind.INTERVAL:
            return self._of_interval(guard, function)
        if guard.kind is GuardKind.SWITCH and self._is_switched_on(guard, function):
            return Heat.HOT
        if guard.is_parameter:
            return min(guard.cap, self._of_parameter(guard.decider, function))
        if guard.decider and self.settings.is_off(guard.decider, function.module):
            return Heat.COLD
        if guard.decider and guard.is_own:
            stored = self._handed.stored(guard.decider, function)
            queried = [
                self._of_parameter(value, maker)
                for maker, value in stored
                if isinstance(value, str) and value in maker.parameters
            ]
            if queried and len(queried) == len(stored):
                return min(guard.cap, max(queried))
        return guard.cap

    def settled(self, guards: tuple[Guard, ...], function: FunctionSummary) -> tuple[Guard, ...]:
        """Return the same guards, with the lengths of intervals filled in if the program determines them;
        guards that hold in each iteration are left out, such as those on a parameter that all calls turn
        on, or on a constant that is true. A short default of an interval whose name promises that it is
        long (`log_interval`) is not used: a training sets another one.
        """
        found = []
        for guard in guards:
            if guard.kind in _SWITCHES and self._is_switched_on(guard, function):
                continue
            if guard.kind is GuardKind.INTERVAL and guard.period is None:
                period = self.period(guard, function)
                if period is not None and period < OFTEN and guard.cap is Heat.WARM:
                    period = None
                if period == 1:
                    continue
                found.append(guard if period is None else replace(guard, period=period))
            else:
                found.append(guard)
        return tuple(found)

    def passes(self, loop: LoopSummary, function: FunctionSummary) -> int | None:
        """Return the number of iterations of a loop of a function, as far as the program determines it."""
        return self.period(loop.length, function) if loop.length is not None else None

    def period(self, guard: Guard, function: FunctionSummary) -> int | None:
        """Return the length of an interval, as far as the program determines it."""
        period = guard.period
        if period is None and guard.decider and guard.is_parameter:
            period = self._handed.of_parameter(guard.decider, function)
        elif period is None and guard.decider and guard.is_own:
            period = self._handed.of_attribute(guard.decider, function)
        if period is None and guard.decider:
            period = self.settings.length(guard.decider, function.module)
        return period

    def _of_interval(self, guard: Guard, function: FunctionSummary) -> Heat:
        period = self.period(guard, function)
        if period is None:
            # many gradient steps at once learn from all steps since the last time
            is_rollout = guard.line in self._rollouts.get(function.path, ())
            return Heat.WARM if is_rollout else guard.cap
        is_update = guard.line in self._updates.get(function.path, ())
        if period >= (RARE_UPDATE if is_update else OFTEN):
            return Heat.WARM
        return guard.cap if guard.period is None else Heat.HOT

    def _of_parameter(self, name: str, function: FunctionSummary) -> Heat:
        """Return how often a parameter that is a switch is on, relative to the calls of the function."""
        if name not in function.parameters:
            return Heat.HOT
        key = function.path, name
        known = self._parameters.get(key)
        if known is not None:
            return known
        if key in self._in_progress:
            self._went_round = True
            return Heat.COLD  # a recursive call passes on the same values
        if not self._in_progress:
            self._looked_at = 0
        self._looked_at += 1
        if len(self._in_progress) >= _MOST_CALLS or self._looked_at > _MOST_FUNCTIONS:
            self._went_round = True
            return Heat.HOT
        self._in_progress.append(key)
        found = self._passed(name, function)
        self._in_progress.pop()
        # an answer found halfway round a cycle is not final
        if not self._went_round or not self._in_progress:
            self._parameters[key] = found
        self._went_round = self._went_round and bool(self._in_progress)
        return found

    def _is_switched_on(self, guard: Guard, function: FunctionSummary) -> bool:
        """Whether a condition is a switch that the program leaves on: a parameter by all of its calls, an
        attribute by all constructions of its object, an option or constant wherever it is set.
        """
        if guard.is_parameter:
            return self._is_on(guard.decider, function)
        if guard.kind is not GuardKind.SWITCH or not guard.decider:
            return False
        stored = self._handed.stored(guard.decider, function) if guard.is_own else ()
        return self.settings.is_on(guard.decider, function.module) or (
            bool(stored)
            and all(
                self._is_on(value, maker) if isinstance(value, str) else value is True
                for maker, value in stored
            )
        )

    def _is_on(self, name: str, function: FunctionSummary) -> bool:
        """Whether all calls of a function turn a parameter on, or leave it on."""
        edges = self._calls.of(function)
        if not edges or len(edges) > _MOST_CALLS or name not in function.parameters:
            return False
        if any(name in dict(site.arguments) for site in self.unresolved(function)):
            return False
        return all(self._is_on_at_call(edge, name) for edge in edges)

    def _is_on_at_call(self, edge: CallEdge, name: str) -> bool:
        passes, place = dict(edge.site.passes), _passed_place(edge, name)
        if place in passes:
            return all(guard.is_usual for guard in passes[place])
        return place is None and name not in edge.target.off and "*" not in passes

    def _passed(self, name: str, function: FunctionSummary) -> Heat:
        if any(name in dict(site.arguments) for site in self.unresolved(function)):
            return Heat.HOT
        edges = self._calls.of(function)
        if not edges:
            return Heat.COLD if name in function.off and is_observation(name) else Heat.HOT
        found = max(self._at_call(edge, name) for edge in edges)
        # a function that no code of the program calls may be an entry point
        return Heat.HOT if found is Heat.COLD and not is_observation(name) else found

    def _at_call(self, edge: CallEdge, name: str) -> Heat:
        passes, place = dict(edge.site.passes), _passed_place(edge, name)
        if place in passes:
            return self.of(passes[place], edge.caller)
        is_off = place is None and name in edge.target.off and "*" not in passes
        return Heat.COLD if is_off else Heat.HOT

    @cached_property
    def _unresolved(self) -> dict[str, list[CallSite]]:
        """Return the calls of methods whose target is unknown, by the method's name."""
        found: dict[str, list[CallSite]] = {}
        for module in self._graph.index.modules.values():
            for function in () if module.is_test else module.functions.values():
                for site in self._graph.unresolved(function.path):
                    found.setdefault(site.method or site.path.rpartition(".")[2], []).append(site)
        return found


def _passed_place(edge: CallEdge, name: str) -> str | None:
    """Return the keyword or position by which a call passes a parameter; None if it does not list it."""
    passed = {*dict(edge.site.passes), *dict(edge.site.arguments)}
    return next((place for place in (name, str(edge.target.place_of(name))) if place in passed), None)


def _intervals(guards: tuple[Guard, ...]) -> list[int]:
    return [guard.line for guard in guards if guard.kind is GuardKind.INTERVAL]
