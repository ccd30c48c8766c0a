"""Compare the behaviour of a program before and after its fixes, over many cases."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rlint.evidence.results import LEAST_SEEDS, Behaviour, Difference
from rlint.harness.compare.allowed_differences import AllowedDifferences, matches
from rlint.harness.compare.case_plan import CasePlan
from rlint.harness.compare.differences import FoundDifference, Snapshot
from rlint.harness.compare.leftovers import Leftovers
from rlint.harness.compare.listening import Listener
from rlint.harness.compare.module_state import is_too_much, module_state
from rlint.harness.compare.observation import (
    OUTCOME,
    PREPARE,
    RUN,
    Observation,
    Raised,
    Scene,
    Trial,
    differences,
    failed_to_load,
    observe_calls,
)
from rlint.harness.compare.process_settings import ProcessSettings
from rlint.harness.compare.random_streams import seed_streams
from rlint.harness.compare.snapshot import Root, TooManyObjectsError
from rlint.harness.compare.uninitialised import filled
from rlint.harness.program import (
    AFTER,
    BEFORE,
    SAFE,
    Arm,
    MissingPackageError,
    Subject,
    WorkloadError,
    load,
)
from rlint.harness.workload import INFINITY, NAN, NEGATIVE_ZERO, VARIANTS, Case

_REPEATED_SEEDS = 2  # of each size, for which the program is also compared with itself
_REPEATS = 3  # repetitions of a case in which a difference is reported
_MOST_REPORTED = 5
_SLOW = 0.05  # seconds; loading a program is slow if it takes longer
_LEAST_LIMIT = 2.0  # seconds that a call may take on derived inputs
_MUCH_LONGER = 20  # the same relative to the time on the workload's own inputs


def compare(
    subject: Subject,
    workload: str,
    device: str,
    *,
    seeds: int = LEAST_SEEDS,
    budget: float = 30.0,
    quick: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005 - nobody looks
) -> Behaviour:
    """Run the program before and after its fixes on the same cases, and compare everything observable.

    At least LEAST_SEEDS seeds are compared at one size; once `budget` (seconds) is used up, fewer at others.
    `quick` compares one small size only.
    `progress` is called with the number of completed cases and the total. Raises WorkloadError if the
    comparison would be meaningless: preparing fails, every run raises, the program differs from itself.
    """
    return _Experiment(subject, workload, device, max(seeds, LEAST_SEEDS), quick=quick).run(budget, progress)


@dataclass(slots=True)
class _Bench:
    """Executes runs, one after the other, without side effects on one another."""

    workload: str
    scene: Scene = field(default_factory=lambda: Scene(Listener()))
    initial_settings: ProcessSettings = field(default_factory=ProcessSettings)


class _Lane:
    """One arm while it runs cases.

    Each case gets a newly loaded program, so that earlier cases do not affect it. Only if loading takes long
    is the program reused; all lanes have then run the same cases before.
    """

    def __init__(self, subject: Subject, name: str, bench: _Bench, *, fresh: bool) -> None:
        self._subject, self._name, self._bench, self._fresh = subject, name, bench, fresh
        self._arm: Arm | None = None
        self._loaded_with = bench.initial_settings

    def observe(self, trial: Trial, limit: float | None = None) -> list[Observation]:
        """Run the calls of a trial. The process settings are restored afterwards."""
        bench = self._bench
        bench.initial_settings.restore()
        try:
            with filled():
                try:
                    arm = self._ready(trial.case)
                except WorkloadError as error:
                    if self._name == BEFORE:
                        raise
                    return [failed_to_load(error)]
                return observe_calls(arm, bench.workload, trial, bench.scene, limit=limit)
        finally:
            bench.initial_settings.restore()

    def state(self) -> dict[str, Root]:
        """Return the state of the program's modules after loading; empty if they cannot be loaded."""
        try:
            return module_state(self._ready(Case(0, 0)))
        except WorkloadError:
            return {}

    def _ready(self, case: Case) -> Arm:
        if self._arm is not None and not self._fresh:
            self._loaded_with.restore()
            return self._arm
        with self._bench.scene.listener.listening():  # to nothing: fixes do not change what an import does
            seed_streams(case)  # modules may draw when they are imported
            self._arm = load(self._subject, self._name)
        if not self._fresh:
            self._loaded_with = ProcessSettings()
        return self._arm


@dataclass(frozen=True, slots=True)
class _Seen:
    """A difference, with its trial, call and arm."""

    trial: Trial
    call: str
    found: FoundDifference
    arm: str

    @property
    def key(self) -> tuple[str, str]:
        return self.found.kind, self.found.place

    @property
    def order(self) -> tuple[bool, int, int]:
        """Sort key: single calls on the workload's own inputs first, the smallest sizes first."""
        return self.trial.variant != "", self.trial.case.size, self.trial.case.seed

    @property
    def when(self) -> str:
        """Return a description of the call or inputs for a report."""
        return self.call or (f"on {VARIANTS[self.trial.variant]}" if self.trial.derives else "")


class _Experiment:
    def __init__(self, subject: Subject, workload: str, device: str, seeds: int, *, quick: bool) -> None:
        self._subject, self._device, self._seeds, self._quick = subject, device, seeds, quick
        self._bench = _Bench(workload)
        self._bench.scene.files.folders = (os.path.dirname(subject.main),)
        texts = subject.texts
        self._arms = [AFTER]
        if texts[SAFE] not in (texts[BEFORE], texts[AFTER]):
            self._arms = [SAFE, AFTER]
        self._driver = load(subject, BEFORE).workloads[workload]
        self._allowed_differences = AllowedDifferences(self._driver.tolerances, self._driver.allowed)
        self._seconds: dict[int, float] = {}
        self._fresh = self._warm_up()
        self._lanes = {name: self._lane(name) for name in (BEFORE, *self._arms)}
        self._twin = self._lane(BEFORE)
        self._passed_over = self._import_differences()
        self._varying: dict[str, None] = {}
        self._seen: list[_Seen] = []
        self._notes: dict[str, None] = {}
        self._succeeded = False
        self._last_exception: Raised | None = None

    def run(self, budget: float, progress: Callable[[int, int], None]) -> Behaviour:
        plan = self._plan()
        gc.freeze()  # loaded packages are not garbage; scanning them takes longer than runs
        try:
            for trial in plan.trials(budget, self._seconds):
                progress(plan.done, plan.total)
                if self._try(trial, lambda: progress(plan.done, plan.total)):
                    plan.compared(trial)
        finally:
            gc.unfreeze()
        progress(plan.done, plan.done)
        if not self._succeeded:
            assert self._last_exception is not None
            what = (
                f"every run raised an exception, so there is nothing to compare: {self._last_exception.text}"
            )
            if self._last_exception.missing:
                raise MissingPackageError(what, self._last_exception.missing)
            raise WorkloadError(what)
        reported = self._confirmed()
        self._notes |= self._allowed_differences.notes
        self._notes |= dict.fromkeys(plan.omissions())
        return Behaviour(
            self._seeds,
            plan.sizes,
            plan.done,
            tuple(map(self._difference, reported)),
            tuple(self._notes),
            fewest=plan.fewest,
            larger=plan.larger,
            variants=plan.variants,
            excluded={VARIANTS[name]: why for name, why in self._driver.excludes.items()},
        )

    def _plan(self) -> CasePlan:
        return CasePlan(self._driver, self._seeds, self._device, quick=self._quick)

    def _lane(self, name: str, *, fresh: bool | None = None) -> _Lane:
        return _Lane(self._subject, name, self._bench, fresh=self._fresh if fresh is None else fresh)

    def _warm_up(self) -> bool:
        """Run each size, so that all packages are loaded and have printed their one-time messages, and record
        the time. Then determine whether reloading the program is fast.
        """
        for size in self._plan().sizes:
            started = time.perf_counter()
            for name in (BEFORE, *self._arms):
                self._lane(name, fresh=True).observe(Trial(Case(0, size, self._device)))
            self._seconds[size] = time.perf_counter() - started
        started = time.perf_counter()
        with self._bench.scene.listener.listening():
            load(self._subject, BEFORE)
        return time.perf_counter() - started < _SLOW

    def _import_differences(self) -> dict[str, frozenset[str]]:
        """Find names of each arm's modules that the fix changes on import, which no run changes, and those
        with too much content.
        """
        before = self._lane(BEFORE, fresh=True).state()
        found = {}
        for name in (BEFORE, *self._arms):
            after = self._lane(name, fresh=True).state()
            differing, _ = differences(
                Observation(Snapshot(before)), Observation(Snapshot(after)), AllowedDifferences()
            )
            much = [path for path, root in (*before.items(), *after.items()) if is_too_much(root)]
            lone = before.keys() ^ after.keys()
            places = (one.path for one in differing)
            tops = {path for place in places for path in before if matches(path, place)}
            found[name] = frozenset({*lone, *much, *tops})
        return found

    # --- cases ---

    def _try(self, trial: Trial, step: Callable[[], None]) -> bool:
        """Compare a trial; False if there was nothing to compare."""
        try:
            return self._compare(trial, step)
        except TooManyObjectsError as error:
            if trial.case.size in self._seconds:
                raise
            self._notes[f"size {trial.case.size:,}: not compared: {error}"] = None
            return False

    def _compare(self, trial: Trial, step: Callable[[], None]) -> bool:
        limits = self._limits(trial)
        before = self._lanes[BEFORE].observe(trial, limits[0])
        if not before:
            return False
        if before[-1].raised and before[-1].raised.late:
            self._notes[f"size {trial.case.size:,}, {_described(trial)}: {before[-1].raised.text}"] = None
            return False
        if not trial.variant and trial.case.seed < _REPEATED_SEEDS and trial.case.size in self._seconds:
            step()
            self._repeat(trial, before, self._twin.observe(trial, limits[0]))
        failures = [before[0].raised]
        compared = False
        for name in self._arms:
            if self._is_inexact(trial, name):
                continue
            step()
            after = self._lanes[name].observe(trial, limits[1])
            compared = True
            failures.append(after[0].raised if after else None)
            if not trial.variant:
                self._refuse_failing(before[0], after[0])
            for call, found in self._differences(trial, before, after, name):
                self._seen += [_Seen(trial, call, one, name) for one in found if not self._varies(one)]
        if not trial.variant:
            self._succeeded |= None in failures
            self._last_exception = before[0].raised or self._last_exception
        return compared

    def _limits(self, trial: Trial) -> tuple[float | None, float | None]:
        """Return the time limits of a call before and after the fix. Runs on the workload's own inputs have
        none.
        """
        if not trial.variant:
            return None, None
        usual = max(_LEAST_LIMIT, _MUCH_LONGER * self._seconds[trial.case.size])
        return usual, 3 * usual

    def _is_inexact(self, trial: Trial, arm: str) -> bool:
        """Whether a trial requires more than is claimed: numbers beyond all tolerances."""
        return bool(
            arm != SAFE and self._driver.tolerances and trial.variant in (NAN, INFINITY, NEGATIVE_ZERO)
        )

    def _differences(
        self, trial: Trial, before: list[Observation], after: list[Observation], arm: str
    ) -> Iterator[tuple[str, list[FoundDifference]]]:
        """Compare call by call, up to the first that differs."""
        allowances = AllowedDifferences() if arm == SAFE else self._allowed_differences
        if trial.variant and [one.derived for one in before] != [one.derived for one in after][: len(before)]:
            return  # other inputs were derived, as the fixed program stores them differently
        for one, other in zip(before, after, strict=False):
            if trial.derives and one.raised is not None:
                found = _refusals(one.raised, other.raised)
            else:
                found, notes = differences(one, other, allowances, self._passed_over[arm])
                self._notes |= notes
            yield one.call, found
            if found:
                return

    def _refuse_failing(self, before: Observation, after: Observation) -> None:
        """Raise WorkloadError for a workload that fails without the fix."""
        stages = (PREPARE, OUTCOME)
        one = before.raised
        if one and one.stage in stages and after.raised and after.raised.stage == one.stage:
            what = f"{one.where}: `{one.stage}` raised {one.text}"
            raise MissingPackageError(what, one.missing) if one.missing else WorkloadError(what)

    def _varies(self, found: FoundDifference) -> bool:
        """Whether the unfixed program differs from itself there, as the workload allows."""
        return any(matches(path, found.path) or path == found.place for path in self._varying)

    def _repeat(self, trial: Trial, first: list[Observation], second: list[Observation]) -> None:
        """Compare two runs of the program as it is."""
        for before, after in zip(first, second, strict=False):
            found, _ = differences(before, after, AllowedDifferences(), self._passed_over[BEFORE])
            for one in found:
                if not trial.variant and not self._may_vary(one):
                    where = f"{one.kind} of `{one.path}` at seed {trial.case.seed}, size {trial.case.size}"
                    raise WorkloadError(
                        f"is not deterministic: {where}: {one.before} in one run, {one.after} in another; "
                        "seed it from the case, leave it out of `outcome`, or name it in `allowed`"
                    )
                self._varying[one.place] = None
                self._notes[f"`{one.place}` is not compared, as it varies from run to run before the fix"] = (
                    None
                )

    def _may_vary(self, found: FoundDifference) -> bool:
        """Return the paths where the program may differ from itself: those that the workload allows, and
        those that depend on the system.
        """
        if found.kind in ("file", "running") or found.place.startswith("printed.descriptor"):
            return True
        return AllowedDifferences(allowed=self._driver.allowed).allows(found.path)

    # --- what is reported ---

    def _confirmed(self) -> list[_Seen]:
        """Return the first differences, by size and seed, each reproduced in newly loaded programs."""
        first: dict[tuple[str, str], _Seen] = {}
        for one in sorted(self._seen, key=lambda seen: seen.order):
            if one.key not in first:
                first[one.key] = one
        reported: list[_Seen] = []
        for one in list(first.values())[:_MOST_REPORTED]:
            self._check_repeats(one.trial)
            if (self._fresh and one.found.kind != "running") or self._shows_alone(one):
                reported.append(one)
            elif one.found.kind != "running":
                where = (
                    f"`{one.found.path}` differs at seed {one.trial.case.seed}, size {one.trial.case.size}"
                )
                self._notes[f"{where}, but only after other runs in the same process"] = None
        return [one for one in reported if not self._varies(one.found)]

    def _check_repeats(self, trial: Trial) -> None:
        limit, _ = self._limits(trial)
        runs = [self._lane(BEFORE, fresh=True).observe(trial, limit) for _ in range(_REPEATS)]
        for other in runs[1:]:
            self._repeat(trial, runs[0], other)

    def _shows_alone(self, one: _Seen) -> bool:
        self._bench.scene.leftovers = Leftovers()  # with the same time limit as at first
        limits = self._limits(one.trial)
        before, after = (
            self._lane(name, fresh=True).observe(one.trial, limit)
            for name, limit in zip((BEFORE, one.arm), limits, strict=True)
        )
        again = self._differences(one.trial, before, after, one.arm)
        return one.key in {(other.kind, other.place) for _, found in again for other in found}

    def _difference(self, one: _Seen) -> Difference:
        texts = self._subject.texts
        safe = one.arm == SAFE or texts[SAFE] == texts[AFTER]
        found, case = one.found, one.trial.case
        return Difference(
            found.kind, found.path, case.seed, case.size, found.before, found.after,
            "safe" if safe else "unsafe", one.when,
        )  # fmt: skip


def _refusals(before: Raised, after: Raised | None) -> list[FoundDifference]:
    """Compare a program that raises on derived inputs with the fixed one, which must raise the same type."""
    if before.stage != RUN or (after is not None and after.type == before.type):
        return []
    return [FoundDifference("exception", RUN, before.text, after.text if after else "no exception", RUN)]


def _described(trial: Trial) -> str:
    return f"not compared, {VARIANTS[trial.variant]}" if trial.variant else "not compared"
