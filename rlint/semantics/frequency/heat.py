"""How often each function runs, and why, as a chain of reasons."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property

from rlint.findings import Heat
from rlint.models.value_type import Type, TypeTag
from rlint.notebook.layout import shown_line
from rlint.regex import regex
from rlint.semantics.frequency.answer import COLD, GRANULARITIES, Frequency, Granularity
from rlint.semantics.frequency.cadence import Cadence, Cadences
from rlint.semantics.frequency.caller_questions import (
    ByRole,
    CallsLeadingTo,
    EachPass,
    InEvaluation,
    Way,
    WaysFromTraining,
)
from rlint.semantics.frequency.callers import MOST_CALLERS, CodePlace, IncomingCall, ProgramCalls
from rlint.semantics.frequency.declared_heat import DeclaredHeat
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.environment_classes import EnvironmentClasses
from rlint.semantics.frequency.frequency_bounds import FrequencyBounds
from rlint.semantics.frequency.guards import (
    MANY_PASSES,
    MOST_PASSES,
    SHORT_ROLLOUT,
    Guard,
    GuardKind,
    inner_guards,
)
from rlint.semantics.frequency.likely_roles.by_body import (
    DENSITY,
    creates_distribution,
    evaluates_distribution,
    likely_role,
    runs_when_called,
    steps_environment,
)
from rlint.semantics.frequency.likely_roles.by_name import named_role
from rlint.semantics.frequency.likely_roles.role import LikelyRole
from rlint.semantics.frequency.likely_roles.training_hooks import Hook, Hooks
from rlint.semantics.frequency.over_items.networks_on_items import NetworksOnItems
from rlint.semantics.frequency.phases.after_training import AfterTraining
from rlint.semantics.frequency.phases.in_phases import InBeginning, InRealTime
from rlint.semantics.frequency.program_settings import usual_of
from rlint.semantics.frequency.roles import (
    LEARNS,
    Role,
    looks_on,
    role_of,
    role_of_learner,
    takes_gradient_step,
    tries,
)
from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.compaction import Interner
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary, LoopSummary
from rlint.semantics.nn.checkpoints import savers

_ROLLOUT = frozenset({Driver.ENVIRONMENT_STEP, Driver.GENERATION})
_CHAIN_LENGTH = 6
_LEARNS = frozenset({Driver.GRADIENT_STEP})
OVER_MEMBERS = regex(
    r" in (range|enumerate|zip|list|reversed|len|[(*])*[\w.\[\]\"', ]*?(?<![a-z])"
    r"(agents|learners|critics|actors|nets|networks|models|members|ensembles?|policies)"
    r"((_|\.)(size|members|models|num|count)|\.values\(\)|\.items\(\))?[\"'\])]*$"
)
"""Headers of loops over a few networks or agents, each of which takes its turn."""


class HeatMap:
    """The heat of every function of a project, and of every loop in it."""

    def __init__(self, index: ProjectIndex, graph: CallGraph) -> None:
        self.index = index
        self.graph = graph
        self._functions = [f for module in index.modules.values() for f in module.functions.values()]
        self._in_tests = {f.path for m in index.modules.values() if m.is_test for f in m.functions.values()}
        self._once: dict[str, frozenset[Driver]] = {}
        self._many: dict[str, frozenset[Driver]] = {}
        self._loop_drivers: dict[str, tuple[tuple[frozenset[Driver], frozenset[Driver]], ...]] = {}
        self._loop_heat: dict[str, tuple[Heat | None, ...]] = {}
        self._heat: dict[str, Frequency] = {}
        self._guessed: deque[tuple[FunctionSummary, Frequency]] = deque()
        self._calls = ProgramCalls(graph, self._in_tests)
        self._callers: dict[str, list[IncomingCall]] = {}
        self._roles: dict[str, Frequency] = {}
        self._cadences = Cadences(self)
        self._each_pass = {level: EachPass(self, level) for level in Heat}
        self._by_role = ByRole(self)
        self._ways = WaysFromTraining(self)
        self._leading = CallsLeadingTo(self)
        self._in_evaluation = InEvaluation(self)
        self._in_beginning = InBeginning(self)
        self._in_real_time = InRealTime(self)
        self._after_training = AfterTraining(self)
        self._bounds = FrequencyBounds(graph, self._calls)
        self._environments = EnvironmentClasses(index)
        self._hooks = Hooks(index, self._calls)
        self._declared = DeclaredHeat(index)
        self._handing_out: dict[str, Frequency] = {}  # generators, as often as loops take their items
        self._on_items: NetworksOnItems | None = None  # only once all that is sure is known
        self._find_drivers()
        self._bounds.note_updates(self._once, self._many)
        for function in self._functions:
            self._loop_heat[function.path] = self._declared.loops(function, self._classify(function))
        self._spread()

    def of_function(self, path: str) -> Frequency:
        """Return how often a function is called."""
        return self._heat.get(path, COLD)

    def saves(self, function: FunctionSummary) -> bool:
        """Whether a function writes a checkpoint in each call (see checkpoints.py)."""
        return function.path in self._savers

    @cached_property
    def _evaluation_modules(self) -> frozenset[str]:
        """Return the modules that only evaluate or plot a trained policy. How often they step environments
        says nothing of how often training runs the same code.
        """
        imported = {
            self.graph.imported(target, module.module)
            for module in self.index.modules.values()
            if not module.is_test
            for target in (*module.imports.values(), *module.star_imports)
        }
        return frozenset(
            module.module
            for module in self.index.modules.values()
            if module.module not in imported
            and (
                self._declared.is_other_script(module)
                or (
                    looks_on(module.module.rpartition(".")[2])
                    and not any(map(self.learns, module.functions.values()))
                )
            )
        )

    @cached_property
    def _trials(self) -> frozenset[str]:
        """Return the functions that test an environment beside its definition (`check_env`): they step it in
        their own loops, take no arguments, and are called by no other file.
        """
        return frozenset(
            function.path
            for module in self.index.modules.values()
            if self._environments.defined_in(module)
            for function in module.functions.values()
            if tries(function.name) and not function.parameters and self._only_tries(function)
        )

    def _only_tries(self, function: FunctionSummary) -> bool:
        return (
            any(Driver.ENVIRONMENT_STEP in loop.drivers for loop in function.loops)
            and not self.learns(function)
            and not any(
                self.learns(edge.caller) or edge.caller.module != function.module
                for edge in self.graph.callers(function.path)
            )
        )

    @cached_property
    def _savers(self) -> frozenset[str]:
        return savers(self.graph)

    def may_be_warm(self, function: FunctionSummary) -> bool:
        """Whether any line of a function may be warmer than cold. If neither its callers nor its own loops
        heat it, it is cold.
        """
        if self.of_function(function.path).level is not Heat.COLD:
            return True
        if any(level is not None for level in self._loop_heat.get(function.path, ())):
            return True
        if function.path in self._handing_out:
            return True
        return bool(function.loops) and bool(self._runs_on_items(function))

    def inside(
        self,
        function: FunctionSummary,
        loops: list[int],
        guards: tuple[Guard, ...] = (),
        cap: Heat = Heat.HOT,
    ) -> Frequency:
        """Return the heat of a line of `function` in `loops` (their indices, innermost first) and, in the
        innermost of them, under `guards`. It is at most `cap`.
        """
        path = function.path
        if path in self._in_tests or path in self._trials or self._declared.is_cold(function, loops):
            return COLD
        now = self._heat.get(path, COLD)
        if not loops and not guards and now.level <= cap:
            return now
        in_own_loop = False
        own = self._loop_heat.get(path, ())
        outside: dict[int, Frequency] = {}
        for index in reversed(loops):
            if index >= len(own):
                continue
            loop, driven = function.loops[index], own[index]
            now = self._under_guards(self._loop_guards(function, index), now, outside, function)
            outside[index] = now
            if driven is not None and (
                driven > now.level or (driven is now.level and (in_own_loop or bool(now.assumption)))
            ):
                # a training loop is reason enough; of two nested ones, the inner one is the better reason
                starts_here = now.level is Heat.COLD or driven is Heat.HOT or in_own_loop or now.assumption
                link = self._link(function, loop)
                now = Frequency(driven, (link,) if starts_here else (*now.chain, link), GRANULARITIES[driven])
                in_own_loop = True
            elif driven is None and _repeats(now) and not (loop.bounded or OVER_MEMBERS.search(loop.header)):
                chain = (*now.chain, self._link(function, loop))
                now = Frequency(Heat.HOT, chain, Granularity.STEP, now.assumption)
            elif (
                loop.yields and driven is not Heat.HOT and path in self._handing_out and now.level < Heat.HOT
            ):
                now = self._handing_out[path]
            elif driven is None and now.level is Heat.COLD and index in self._runs_on_items(function):
                header = self._declared.header(function, loop)
                assumption = f"the loop `{header}` has many iterations"
                chain = (self._link(function, loop),)
                now = Frequency(Heat.HOT, chain, Granularity.ITEM, assumption)
        now = self._under_guards(guards, now, outside, function)
        if cap < now.level:
            now = Frequency(cap, now.chain, GRANULARITIES[cap], now.assumption)
        return now if now.level is not Heat.COLD else COLD

    def _runs_on_items(self, function: FunctionSummary) -> frozenset[int]:
        """Return the loops of a function that run a network on one of many items after the other."""
        return self._on_items.loops(function) if self._on_items is not None else frozenset()

    def _under_guards(
        self,
        guards: tuple[Guard, ...],
        now: Frequency,
        outside: Mapping[int, Frequency],
        function: FunctionSummary,
    ) -> Frequency:
        """Return how often a line runs under guards, in a place that runs as often as `now`. `outside` is how
        often the loops begin.
        """
        for guard in guards:
            bound = self._bounds.of_guard(guard, function)
            begins = outside.get(guard.counts)
            if begins is not None and guard.kind is GuardKind.ONCE:
                now = min(now, begins, key=lambda frequency: frequency.level)
                continue
            if begins is not None:
                bound = max(bound, begins.level)
            if bound <= now.level and bound is not Heat.HOT:
                now = Frequency(bound, now.chain, self._granularity_under(guards, function), now.assumption)
        return now

    def _granularity_under(self, guards: tuple[Guard, ...], function: FunctionSummary) -> Granularity:
        intervals = [guard for guard in guards if guard.kind is GuardKind.INTERVAL]
        if not intervals:
            return Granularity.ROUND
        learns = all(self._bounds.learns_at(guard, function) for guard in intervals)
        return Granularity.UPDATE if learns else Granularity.INTERVAL

    def at_call(self, edge: CallEdge) -> Frequency:
        """Return how often a call runs: an environment's `reset` at most once per episode."""
        site, around = edge.site, edge.caller.loops_from(edge.site.loop)
        cap = min(site.cap, Heat.WARM) if self._environments.is_reset(edge.target) else site.cap
        return self.inside(edge.caller, around, inner_guards(site.guards, around), cap)

    def _is_done_once(self, caller: FunctionSummary, site: CallSite) -> bool:
        """Whether a call runs elsewhere, or only once however often its place is reached."""
        if site.cap is Heat.COLD:
            return True
        guards = inner_guards(site.guards, caller.loops_from(site.loop)) if site.guards else ()
        return bool(guards) and self._bounds.of(guards, caller) is Heat.COLD

    def _loop_guards(self, function: FunctionSummary, index: int) -> tuple[Guard, ...]:
        """Return the conditions between a loop and the next enclosing loop that may cool it."""
        loop = function.loops[index]
        return inner_guards(loop.guards, function.loops_from(loop.parent)) if loop.guards else ()

    def _link(self, function: FunctionSummary, loop: LoopSummary) -> str:
        module = self.index.modules[function.module]
        header = self._declared.header(function, loop)
        return f"{module.path}:{shown_line(loop.line, module.cells)} {header}"

    def holds(
        self, function: FunctionSummary, guards: tuple[Guard, ...], *, each_pass: bool | None
    ) -> bool | None:
        """Return whether a line runs in each iteration, given what its file determines (see
        iteration_frequency.py): intervals that the program makes short are ignored.
        """
        if each_pass is not False or not guards:
            return each_pass
        settled = self._bounds.settled(guards, function)
        is_short = settled != guards and all(
            guard.is_usual and guard.kind is not GuardKind.ENDS for guard in settled
        )
        return None if is_short else each_pass

    def settled(self, guards: tuple[Guard, ...], function: FunctionSummary) -> tuple[Guard, ...]:
        """Return guards with the lengths of intervals that the program sets, without intervals of one
        iteration.
        """
        return self._bounds.settled(guards, function) if guards else guards

    def drives(self, function: FunctionSummary) -> frozenset[Driver]:
        """Return what a function, and its warm callers, do inside and outside of their loops, including
        calls: environment steps, gradient steps, generation …
        """
        found = self._once[function.path] | self._many[function.path]
        for call in self.callers(function)[:MOST_CALLERS]:
            if call.level is not Heat.COLD:
                found |= self._once[call.edge.caller.path] | self._many[call.edge.caller.path]
        return found

    def driven_by(self, function: FunctionSummary) -> tuple[frozenset[Driver], frozenset[Driver]]:
        """Return what a function does once per call and what it does many times, including all functions that
        it calls.
        """
        return self._once[function.path], self._many[function.path]

    def loops_driven_by(
        self, function: FunctionSummary
    ) -> tuple[tuple[frozenset[Driver], frozenset[Driver]], ...]:
        """Return the same for an iteration of each of its loops."""
        return self._loop_drivers[function.path]

    def period(self, interval: Guard, function: FunctionSummary) -> int | None:
        """Return the length of an interval in a function, as far as the program determines it."""
        return self._bounds.period(interval, function)

    def usual_setting(self, name: str, module: str) -> int | None:
        """Return the number that the program of a module usually sets an option of this name to."""
        return self._bounds.settings.usual(name, module)

    def usual_argument(self, function: FunctionSummary, parameter: str) -> int | None:
        """Return the number that the calls of a function usually pass to a parameter, as a literal or by the
        name of a setting of their program.
        """
        places = parameter, str(function.place_of(parameter))
        found: set[int] = set()
        for call in self.callers(function):
            site, module = call.edge.site, call.edge.caller.module
            found.update(number for place, number in site.numbers if place in places)
            named = (self.usual_setting(name, module) for place, name in site.names if place in places)
            found.update(number for number in named if number is not None)
        return usual_of(found)

    def hot_callers(self, method: str, receiver: str, module: str) -> tuple[str, ...]:
        """Return the functions in the module, its package and the enclosing packages that call, in each step,
        a method of an object of unknown class with this last name, without leading underscores. In more
        distant packages, the same name likely means another object.
        """
        key = self.graph.program(module), method, receiver.lstrip("_")
        package = self.index.modules[module].package
        return tuple(shown for shown, other in self._hot_calls.get(key, ()) if _are_related(package, other))

    @cached_property
    def _hot_calls(self) -> dict[tuple[str, str, str], tuple[tuple[str, str], ...]]:
        found: dict[tuple[str, str, str], dict[tuple[str, str], None]] = {}
        for function in self._functions:
            for site in self.graph.unresolved(function.path):
                if not site.method or not site.receiver:
                    continue
                around = function.loops_from(site.loop)
                guards = inner_guards(site.guards, around)
                if self.inside(function, around, guards, site.cap).level is Heat.HOT:
                    key = self.graph.program(function.module), site.method, site.receiver.lstrip("_")
                    package = self.index.modules[function.module].package
                    found.setdefault(key, {})[function.shown or function.module, package] = None
        return {key: tuple(sorted(names)) for key, names in found.items()}

    def cadence(self, place: CodePlace) -> Cadence | None:
        """Return what the training loop around a place does in each iteration; None if no such loop is
        known.
        """
        return self._cadences.ask(place) if place.function.path not in self._in_tests else None

    def each_pass(self, place: CodePlace, level: Heat) -> bool:
        """Whether a place runs in every run of the code that makes it as hot as `level`. False if in
        doubt (see caller_questions.py).
        """
        return self._each_pass[level].ask(place) is True

    def by_role(self, function: FunctionSummary) -> bool:
        """Whether a function is known to run often only by its name or its body."""
        return self._by_role.ask(CodePlace(function, ())) is True

    def ways_from_training(self, place: CodePlace) -> list[Way]:
        """Return the call paths to a place from the loops that take gradient steps."""
        return self._ways.ask(place) or []

    def calls_leading_to(self, place: CodePlace) -> frozenset[tuple[str, str]]:
        """Return the calls on all known paths to a place: the caller and the function that it calls."""
        return self._leading.ask(place) or frozenset()

    def is_evaluation(self, place: CodePlace) -> bool:
        """Whether a place runs only in evaluations and demonstrations."""
        return self._in_evaluation.ask(place) is True

    def is_beginning(self, place: CodePlace) -> bool:
        """Whether a place runs only at the beginning of a run, such as in a warm-up phase."""
        return self._in_beginning.ask(place) is True

    def is_after_training(self, place: CodePlace, line: int) -> bool:
        """Whether a place, with its line, runs only after the training."""
        return self._after_training.includes(place, line)

    def is_in_real_time(self, place: CodePlace) -> bool:
        """Whether a place runs only in loops that wait for the clock in each iteration."""
        return self._in_real_time.ask(place) is True

    def is_evaluation_script(self, function: FunctionSummary) -> bool:
        """Whether a function is part of a file that only evaluates or plots a trained policy."""
        return function.module in self._evaluation_modules

    def is_declared_warm(self, function: FunctionSummary) -> bool:
        """Whether a function is declared hot or warm."""
        return self._declared.is_warm(function)

    def loop_levels(self, function: FunctionSummary) -> tuple[Heat | None, ...]:
        """Return the heat of each loop of a function by what it drives; None for a loop that drives
        nothing.
        """
        return self._loop_heat.get(function.path, ())

    def has_role(self, function: FunctionSummary) -> bool:
        """Whether the heat of a function rests only on its role, or on likely answers."""
        heat = self.of_function(function.path)
        return bool(heat.assumption) or self._role(function).level is heat.level

    def learns_by_role(self, function: FunctionSummary) -> bool:
        """Whether a framework calls a function for each gradient step, which the framework takes:
        `training_step`.
        """
        return (
            function.name in LEARNS and self._role(function).level is Heat.HOT and not self.callers(function)
        )

    def hook(self, function: FunctionSummary) -> Hook | None:
        """Return how a training calls a function that no visible code calls: a hook of a framework, or
        likely one of the project.
        """
        return self._hooks.of(function)

    def is_test(self, function: FunctionSummary) -> bool:
        """Whether a function is part of a test, whose loops are ignored."""
        return function.path in self._in_tests

    def calls_that_may_pass(self, function: FunctionSummary, parameter: str) -> list[CallSite]:
        """Return the calls of unknown target which may call the function and pass a parameter."""
        places = {parameter, str(function.place_of(parameter))}
        return [
            site
            for site in self._bounds.unresolved(function)
            if not places.isdisjoint(dict(site.arguments)) or "*" in dict(site.passes)
        ]

    def may_be_called(self, function: FunctionSummary) -> bool:
        """Whether calls of unknown target may call a function, judging by its name."""
        return bool(self._bounds.unresolved(function))

    def learns(self, function: FunctionSummary) -> bool:
        """Whether a function, or a function that it calls, takes gradient steps."""
        return Driver.GRADIENT_STEP in self._once[function.path] | self._many[function.path]

    def callers(self, function: FunctionSummary) -> list[IncomingCall]:
        """Return the calls of a function, each with its heat; calls in tests are left out."""
        known = self._callers.get(function.path)
        if known is None:
            known = self._callers[function.path] = [
                IncomingCall(self.at_call(edge).level, edge) for edge in self._calls.of(function)
            ]
        return known

    def passed_names(self, function: FunctionSummary, parameter: str) -> list[str]:
        """Return the last names of the arguments that calls which are not cold pass to a parameter; "" for an
        argument without a name. Unnamed texts are left out: nearly all are literals.
        """
        parameters = function.call_parameters
        position = str(parameters.index(parameter)) if parameter in parameters else ""
        found = []
        for call in self.callers(function):
            if call.level is Heat.COLD:
                continue
            site = call.edge.site
            names, types = dict(site.names), dict(site.arguments)
            name = names.get(parameter) or names.get(position) or ""
            kind = types.get(parameter) or types.get(position)
            if name or kind is None or kind.tag is not TypeTag.STR:
                found.append(name)
        return found

    def _find_drivers(self) -> None:
        """Find what each function does once per call, and in loops, including the functions that it calls."""
        once = {f.path: set(f.drivers) for f in self._functions}
        many = {f.path: {driver for loop in f.loops for driver in loop.drivers} for f in self._functions}
        for step in self._environments.steps():
            once[step.path].add(Driver.ENVIRONMENT_STEP)
        for function in self._functions:
            for site in self._learning_calls(function):
                outer = _beyond_members(function, site.loop)
                (once if outer == -1 else many)[function.path].add(Driver.GRADIENT_STEP)
            once[function.path] |= _learned_in_turn(function)
        pending = deque(self._functions)
        queued = {f.path for f in self._functions}
        while pending:
            path = pending.popleft().path
            queued.discard(path)
            own_once, own_many = once[path], many[path]
            if not own_once and not own_many:
                continue
            for edge in self.graph.callers(path):
                if self._is_done_once(edge.caller, edge.site):
                    continue  # run elsewhere, or only once
                caller = edge.caller.path
                before = len(once[caller]), len(many[caller])
                if edge.site.loop == -1:
                    once[caller] |= own_once
                    many[caller] |= own_many
                else:
                    many[caller] |= own_once | own_many
                    if _beyond_members(edge.caller, edge.site.loop) == -1:
                        once[caller] |= own_once & _LEARNS
                if (len(once[caller]), len(many[caller])) != before and caller not in queued:
                    queued.add(caller)
                    pending.append(edge.caller)
        first_equal = Interner()  # most of them are empty
        self._once = {path: first_equal(frozenset(drivers)) for path, drivers in once.items()}
        self._many = {path: first_equal(frozenset(drivers)) for path, drivers in many.items()}

    def _learning_calls(self, function: FunctionSummary) -> list[CallSite]:
        """Return the calls that take a gradient step judging only by their name (`agent.learn(batch)`, where
        the class of the agent is unknown).
        """
        return [
            site
            for site in self.graph.unresolved(function.path)
            if takes_gradient_step(site) and not self._is_done_once(function, site)
        ]

    def _classify(self, function: FunctionSummary) -> tuple[Heat | None, ...]:
        """Return which loops of a function are training loops, and their heat."""
        count = len(function.loops)
        if not count:
            self._loop_drivers[function.path] = ()
            return ()
        direct: list[set[Driver]] = [set(loop.drivers) for loop in function.loops]
        nested: list[set[Driver]] = [set() for _ in range(count)]
        now_and_then: list[set[Driver]] = [set() for _ in range(count)]
        short: list[set[Driver]] = [set() for _ in range(count)]  # short rollouts, or only sometimes
        calls = self.graph.calls(function.path)
        without = {id(edge.site) for edge in calls if not self._many[edge.target.path] & _ROLLOUT}
        for site in self._learning_calls(function):
            if 0 <= site.loop < count:
                direct[site.loop].add(Driver.GRADIENT_STEP)
        for edge in calls:
            if 0 <= edge.site.loop < count and not self._is_done_once(function, edge.site):
                direct[edge.site.loop] |= self._surely_once(edge.target)
                rare = _is_at_interval(edge.site.guards, function.loops_from(edge.site.loop))
                # of several classes whose method may be called, one without rollouts is enough
                plays_shortly = id(edge.site) in without or self._plays_shortly(edge.target)
                kept = now_and_then if rare else short if plays_shortly else nested
                kept[edge.site.loop] |= self._many[edge.target.path]
            for index in _loops_over_generator(function, edge):
                nested[index] |= self._once[edge.target.path] | self._many[edge.target.path]
        for child in range(count - 1, -1, -1):
            parent = function.loops[child].parent
            if parent >= 0:
                rare = _is_at_interval(function.loops[child].guards, function.loops_from(parent))
                inside = direct[child] | nested[child]
                kept = now_and_then if rare else short if self._is_short(child, function) else nested
                kept[parent] |= inside
                if not rare and OVER_MEMBERS.search(function.loops[child].header):
                    direct[parent] |= direct[child] & _LEARNS
                now_and_then[parent] |= now_and_then[child]
                short[parent] |= short[child]
        for index in range(count):
            # a loop over gradient steps stays one if it runs some episodes at intervals
            learns = Driver.GRADIENT_STEP in direct[index]
            nested[index] |= now_and_then[index] - (_ROLLOUT if learns else frozenset())
            if not learns:
                nested[index] |= short[index]
        self._loop_drivers[function.path] = tuple(
            (frozenset(direct[i]), frozenset(nested[i] | short[i])) for i in range(count)
        )
        return tuple(
            _loop_level(direct[i], nested[i]) or self._level_by_length(function.loops[i], function)
            for i in range(count)
        )

    def _level_by_length(self, loop: LoopSummary, function: FunctionSummary) -> Heat | None:
        """Return the heat of a loop without a known driver: one with many iterations that run a network,
        sample or step an object, or with so many that whatever they do is most of the run.
        """
        passes = self._bounds.passes(loop, function)
        fewest = MANY_PASSES if loop.works else MOST_PASSES
        return Heat.HOT if passes is not None and passes >= fewest else None

    def _is_short(self, loop: int, function: FunctionSummary) -> bool:
        """Whether a loop steps an environment a few times only."""
        steps = Driver.ENVIRONMENT_STEP in function.loops[loop].drivers
        passes = self._bounds.passes(function.loops[loop], function) if steps else None
        return passes is not None and passes < SHORT_ROLLOUT

    def _plays_shortly(self, function: FunctionSummary) -> bool:
        """Whether a function steps an environment only in loops of a few iterations."""
        if Driver.ENVIRONMENT_STEP not in self._many[function.path]:
            return False
        playing = [i for i, loop in enumerate(function.loops) if Driver.ENVIRONMENT_STEP in loop.drivers]
        return (
            bool(playing)
            and all(function.loops[i].parent == -1 and self._is_short(i, function) for i in playing)
            and not any(
                Driver.ENVIRONMENT_STEP in self._many[edge.target.path]
                for edge in self.graph.calls(function.path)
            )
        )

    def _surely_once(self, function: FunctionSummary) -> frozenset[Driver]:
        """Return what a function does once per call. A function that steps an environment in its loops, and
        outside of them only through calls (a reset that begins with a step), runs whole episodes.
        """
        once, many = self._once[function.path], self._many[function.path]
        through_calls = (
            Driver.ENVIRONMENT_STEP in once & many and Driver.ENVIRONMENT_STEP not in function.drivers
        )
        return once - {Driver.ENVIRONMENT_STEP} if through_calls else once

    def _spread(self) -> None:
        """Propagate heat from the loops through the calls; shortest chains win, first among certain calls,
        then among guessed ones. Roles count only for functions without callers.
        """
        queue: deque[tuple[FunctionSummary, Frequency]] = deque()
        self._heat.update(self._declared.heats())
        for wanted in (Heat.HOT, Heat.WARM):
            for function in self._functions:
                if self.may_be_warm(function):
                    queue.extend(self._targets(function, wanted))
            if wanted is Heat.HOT:
                self._drain(queue, wanted)
        self._drain(queue, Heat.WARM)
        for function in self._functions:
            role = COLD if self._declared.decides(function) else self._role(function)
            if role.level > self.of_function(function.path).level and not self._runs_at_intervals(function):
                self._heat[function.path] = role
                queue.extend(self._targets(function, Heat.HOT))
                queue.extend(self._targets(function, Heat.WARM))
        self._drain(queue, Heat.WARM)
        self._heat_measured(queue)
        self._spread_likely(queue)

    def _spread_likely(self, queue: deque[tuple[FunctionSummary, Frequency]]) -> None:
        """Propagate heat from the functions that have no visible caller and likely run often. Heat that is
        already known is not changed.
        """
        for function, what in self._registered():
            assumes = f"`{function.shown}` {what} of a training"
            queue.append(
                (function, Frequency(Heat.HOT, (f"{function.shown} ({what})",), Granularity.STEP, assumes))
            )
        for function in self._functions:
            likely = self._likely(function)
            if likely is not None:
                queue.append((function, likely))
        self._drain(queue, Heat.WARM)
        self._on_items = NetworksOnItems(self.graph, self._is_network_class, self._is_driven)
        self._callers.clear()
        for function in self._functions:
            if self._runs_on_items(function):
                queue.extend(self._targets(function, Heat.HOT))
        self._drain(queue, Heat.WARM)

    def _is_network_class(self, cls: ClassSummary) -> bool:
        return self._environments.tag_of(cls) is TypeTag.MODULE or "forward" in cls.methods

    def _is_driven(self, function: FunctionSummary, loop: int) -> bool:
        """Whether an iteration of a loop has a driver, or the length of the loop is known to be short."""
        passes = self._bounds.passes(function.loops[loop], function)
        short = passes is not None and passes < SHORT_ROLLOUT
        return short or any(self._loop_drivers[function.path][loop])

    def _registered(self) -> Iterator[tuple[FunctionSummary, str]]:
        """Yield the functions that libraries call: hooks of networks, and functions that create batches."""
        for module in self.index.modules.values():
            for path, what in () if module.is_test else module.registered:
                for function in self.index.possible_callables(path, module.module):
                    if function.path not in self._in_tests:
                        yield function, what

    def _likely(self, function: FunctionSummary) -> Frequency | None:
        """Return how often a function without known callers likely runs."""
        if (
            function.path in self._in_tests
            or function.module in self._evaluation_modules
            or self.of_function(function.path).level is not Heat.COLD
            or not all(_continues(edge) for edge in self._calls.of(function))
        ):
            return None
        role = self._likely_role(function)
        if role is None:
            return None
        chain = (f"{function.shown} ({role.what})",)
        return Frequency(
            role.heat, chain, GRANULARITIES[role.heat], f"`{function.shown}` is called {role.called}"
        )

    def _likely_role(self, function: FunctionSummary) -> LikelyRole | Hook | None:
        hook = self._hooks.likely(function)
        if hook is not None:
            return hook
        named = () if function.is_closure else self._bounds.unresolved(function)
        calling = [site for site in named if function.takes(site)]
        may_be_called = bool(calling)
        once, many = self._once[function.path], self._many[function.path]
        steps = steps_environment(function)
        if steps is not None:
            return steps
        if once | many:
            is_called_once = may_be_called and all(site.loop == -1 for site in calling)
            return likely_role(function, once, many) if not is_called_once else None
        gives_distribution = self._returns_distribution(function)
        created = creates_distribution(function) if gives_distribution and not may_be_called else None
        if created is not None:
            return created
        cls = self.index.owner_of(function)
        if cls is not None:
            called = runs_when_called(function, cls.qualname, gives_distribution=gives_distribution)
            called = called or evaluates_distribution(function, cls)
            if called is not None:
                return called
            return named_role(function, cls.qualname, self._environments.tag_of(cls))
        return named_role(function) if not (function.is_method or may_be_called) else None

    def _returns_distribution(self, function: FunctionSummary) -> bool:
        """Whether a function always returns a distribution."""
        return bool(function.returns) and all(
            self._is_distribution(kind, function.module) for kind in function.returns
        )

    def _is_distribution(self, kind: Type, module: str) -> bool:
        """Whether a value is a distribution: one of torch, or of a class that computes log-probabilities."""
        if kind.tag is TypeTag.UNKNOWN and kind.of:
            kind = self.index.resolve(kind.of, module)
        cls = self.index.class_of(kind) if kind.tag is TypeTag.INSTANCE else None
        return kind.tag is TypeTag.DISTRIBUTION or (cls is not None and DENSITY in cls.methods)

    def _runs_at_intervals(self, function: FunctionSummary) -> bool:
        """Whether all calls of a function are known, and happen at intervals."""
        if not self.of_function(function.path).runs_at_intervals or self._bounds.unresolved(function):
            return False
        calls = [self.at_call(edge) for edge in self._calls.of(function)]
        return all(call.runs_at_intervals for call in calls if call.level is not Heat.COLD)

    def _heat_measured(self, queue: deque[tuple[FunctionSummary, Frequency]]) -> None:
        """Mark functions hot that a profile saw running often, whatever static analysis infers."""
        for module in self.index.modules.values():
            for qualname, level, why in module.measured:
                function = module.functions.get(qualname)
                if function is not None and function.path not in self._in_tests:
                    queue.append(
                        (function, Frequency(level, (f"{function.shown} ({why})",), GRANULARITIES[level]))
                    )
        self._drain(queue, Heat.WARM)

    def _drain(self, queue: deque[tuple[FunctionSummary, Frequency]], lowest: Heat) -> None:
        while queue or self._guessed:
            function, heat = (queue or self._guessed).popleft()
            known = self.of_function(function.path)
            if heat.level < lowest or heat.level <= known.level:
                continue
            if heat.assumption and known.level is not Heat.COLD and not known.assumption:
                continue  # functions known to run less often are not assumed to run more often
            if self._declared.decides(function):
                continue
            self._heat[function.path] = heat
            queue.extend(self._targets(function, Heat.HOT))
            if lowest is Heat.WARM:
                queue.extend(self._targets(function, Heat.WARM))

    def _targets(self, function: FunctionSummary, wanted: Heat) -> list[tuple[FunctionSummary, Frequency]]:
        """Return the functions that `function` calls at exactly the given heat, with the chain to them.
        Targets guessed by name are kept apart in `_guessed`: certain calls are the better reason.
        """
        found: list[tuple[FunctionSummary, Frequency]] = []
        is_evaluation_module = function.module in self._evaluation_modules
        for edge in self.graph.calls(function.path):
            if is_evaluation_module and edge.target.module != function.module:
                continue
            if wanted is Heat.HOT and edge.target.may_return_iterator:
                found += self._hand_out(edge)
            heat = self.at_call(edge)
            if heat.level is wanted and edge.target.path != function.path:
                chain = (*heat.chain, edge.shown)
                if len(chain) <= _CHAIN_LENGTH + 2:
                    link = Frequency(wanted, _shortened(chain), heat.granularity, heat.assumption)
                    into = self._guessed if edge.guessed else found
                    into.append((edge.target, link))
        return found

    def _hand_out(self, edge: CallEdge) -> list[tuple[FunctionSummary, Frequency]]:
        """Return what a generator calls for each item, if a hot loop iterates over its result and is the
        first that does.
        """
        generator, caller = edge.target, edge.caller
        if generator.path in self._handing_out or not any(loop.yields for loop in generator.loops):
            return []
        for index in _loops_over_generator(caller, edge):
            heat = self.inside(caller, caller.loops_from(index))
            if heat.level is Heat.HOT and len(heat.chain) < _CHAIN_LENGTH + 2:
                chain = _shortened((*heat.chain, edge.shown))
                self._handing_out[generator.path] = Frequency(
                    heat.level, chain, heat.granularity, heat.assumption
                )
                return self._targets(generator, Heat.HOT)
        return []

    def _role(self, function: FunctionSummary) -> Frequency:
        """Return how often other code will call a function, judging by its name."""
        known = self._roles.get(function.path)
        if known is None:
            known = self._roles[function.path] = self._find_role(function)
        return known

    def _find_role(self, function: FunctionSummary) -> Frequency:
        if function.path in self._in_tests or not function.qualname:
            return COLD
        owner = function.qualname.rpartition(".")[0]
        cls = self.index.owner_of(function)
        tag = self._environments.tag_of(cls) if cls is not None else TypeTag.UNKNOWN
        many = self._many[function.path]
        bases = cls.bases if cls is not None else ()
        role: Role | Hook | None = self._hooks.called_by_framework(function)
        if role is None:
            role = role_of(function, owner if cls is not None else "", tag, many, bases)
        if role is None and not self._calls.of(function):
            role = role_of_learner(function, many)
        return (
            Frequency(role.heat, (f"{function.shown} ({role.what})",), GRANULARITIES[role.heat])
            if role is not None
            else COLD
        )


def _continues(edge: CallEdge) -> bool:
    """Whether the method of a subclass calls the one that it overrides: `super().__call__(mean)`."""
    return edge.caller.name == edge.target.name == "__call__" and edge.caller is not edge.target


def _are_related(package: str, other: str) -> bool:
    """Whether one package is the other, or contains it. Top-level modules are treated as one package."""
    inner, outer = sorted((package, other), key=len, reverse=True)
    return inner == outer or (bool(outer) and inner.startswith(f"{outer}."))


def _repeats(now: Frequency) -> bool:
    """Whether a loop in a place of this frequency iterates over the steps of a round. What is done at an
    interval, without learning from the steps since the last time, logs or evaluates.
    """
    return now.level is Heat.WARM and now.granularity is not Granularity.INTERVAL


def _loops_over_generator(function: FunctionSummary, edge: CallEdge) -> list[int]:
    """Return the loops that iterate over the result of a generator call: the generator runs in each of their
    iterations.
    """
    if not edge.target.may_return_iterator:
        return []
    line, around = edge.site.line, edge.site.loop
    return [i for i, loop in enumerate(function.loops) if loop.line == line and loop.parent == around]


def _beyond_members(function: FunctionSummary, loop: int) -> int:
    """Return the innermost loop around a loop that is not over networks or agents which learn in turn: that
    all of them learn once is one step of it. -1 if there is none.
    """
    while 0 <= loop < len(function.loops) and OVER_MEMBERS.search(function.loops[loop].header):
        loop = function.loops[loop].parent
    return loop


def _learned_in_turn(function: FunctionSummary) -> frozenset[Driver]:
    """Return the gradient step of a function that takes one for each of a few networks or agents."""
    for index, loop in enumerate(function.loops):
        if Driver.GRADIENT_STEP in loop.drivers and _beyond_members(function, index) == -1:
            return _LEARNS
    return frozenset()


def _is_at_interval(guards: tuple[Guard, ...], loops: list[int]) -> bool:
    return any(guard.kind is GuardKind.INTERVAL for guard in inner_guards(guards, loops))


def _loop_level(direct: set[Driver], nested: set[Driver]) -> Heat | None:
    if Driver.ENVIRONMENT_STEP in direct or (Driver.MESSAGE in direct and not nested & _ROLLOUT):
        return Heat.HOT  # a message beside whole rollouts is sent once in each round
    if Driver.GENERATION in direct:
        return Heat.WARM
    if direct & {Driver.GRADIENT_STEP, Driver.BATCH}:
        return Heat.WARM if nested & _ROLLOUT else Heat.HOT
    return (
        Heat.WARM
        if nested
        & {Driver.ENVIRONMENT_STEP, Driver.GENERATION, Driver.GRADIENT_STEP, Driver.MESSAGE, Driver.BATCH}
        else None
    )


def _shortened(chain: tuple[str, ...]) -> tuple[str, ...]:
    if len(chain) <= _CHAIN_LENGTH:
        return chain
    return (*chain[:2], "…", *chain[-(_CHAIN_LENGTH - 3) :])
