"""Says whether a program behaves the same after its fixes, over many cases."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rlint.harness.differences import Found
from rlint.harness.excuses import Excuses, matches
from rlint.harness.listening import Listener
from rlint.harness.observation import (
    OUTCOME,
    PREPARE,
    Observation,
    Raised,
    differences,
    failed_to_load,
    observe,
)
from rlint.harness.plan import Plan
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
from rlint.harness.results import LEAST_SEEDS, Behaviour, Difference
from rlint.harness.streams import seed_streams
from rlint.harness.surroundings import Surroundings
from rlint.harness.uninitialised import filled
from rlint.harness.workload import Case

_REPEATED_SEEDS = 2  # of each size, for which the program is also compared with itself
_REPEATS = 3  # of a case in which a difference is reported
_MOST_REPORTED = 5
_SLOW = 0.05  # seconds to load a program


def compare(
    subject: Subject,
    workload: str,
    device: str,
    *,
    seeds: int = LEAST_SEEDS,
    budget: float = 30.0,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005 - nobody looks
) -> Behaviour:
    """Run the program before and after its fixes on the same cases, and compare all that can be seen.

    At least LEAST_SEEDS seeds are compared at one size; when `budget` (seconds) is over, fewer at others.
    `progress` is told how many cases are done, of how many. Raises WorkloadError where the comparison
    would say nothing: preparing fails, every run raises, the program differs from itself.
    """
    return _Experiment(subject, workload, device, max(seeds, LEAST_SEEDS)).run(budget, progress)


@dataclass(slots=True)
class _Bench:
    """Where runs take place, one after the other and without traces."""

    workload: str
    listener: Listener = field(default_factory=Listener)
    surroundings: Surroundings = field(default_factory=Surroundings)


class _Lane:
    """One arm that goes through cases.

    Each case gets a program that is loaded anew, so that nothing is left of earlier cases. Only where that
    takes long is the program used again; all lanes then have gone through the same cases before.
    """

    def __init__(self, subject: Subject, name: str, bench: _Bench, *, fresh: bool) -> None:
        self._subject, self._name, self._bench, self._fresh = subject, name, bench, fresh
        self._arm: Arm | None = None
        self._loaded_with = bench.surroundings

    def observe(self, case: Case) -> Observation:
        """Run a case. The settings of the process are afterwards as they were."""
        bench = self._bench
        bench.surroundings.restore()
        try:
            with filled():
                try:
                    arm = self._ready(case)
                except WorkloadError as error:
                    if self._name == BEFORE:
                        raise
                    return failed_to_load(error)
                return observe(arm, bench.workload, case, bench.listener)
        finally:
            bench.surroundings.restore()

    def _ready(self, case: Case) -> Arm:
        if self._arm is not None and not self._fresh:
            self._loaded_with.restore()
            return self._arm
        with self._bench.listener.listening():  # to nothing: fixes do not change what importing does
            seed_streams(case)  # modules may draw when they are imported
            self._arm = load(self._subject, self._name)
        if not self._fresh:
            self._loaded_with = Surroundings()
        return self._arm


@dataclass(frozen=True, slots=True)
class _Seen:
    """A difference, in which case and arm."""

    case: Case
    found: Found
    arm: str

    @property
    def key(self) -> tuple[str, str]:
        return self.found.kind, self.found.place


class _Experiment:
    def __init__(self, subject: Subject, workload: str, device: str, seeds: int) -> None:
        self._subject, self._device, self._seeds = subject, device, seeds
        self._bench = _Bench(workload)
        texts = subject.texts
        self._arms = [AFTER]
        if texts[SAFE] not in (texts[BEFORE], texts[AFTER]):
            self._arms = [SAFE, AFTER]
        self._driver = load(subject, BEFORE).workloads[workload]
        self._excuses = Excuses(self._driver.tolerances, self._driver.allowed)
        self._seconds: dict[int, float] = {}
        self._fresh = self._warm_up()
        self._lanes = {name: self._lane(name) for name in (BEFORE, *self._arms)}
        self._twin = self._lane(BEFORE)
        self._varying: dict[str, None] = {}
        self._seen: list[_Seen] = []
        self._notes: dict[str, None] = {}
        self._succeeded = False
        self._last_exception: Raised | None = None

    def run(self, budget: float, progress: Callable[[int, int], None]) -> Behaviour:
        plan = Plan(self._driver, self._seeds, self._device)
        gc.freeze()  # packages that are loaded by now are no garbage; looking at them takes longer than runs
        try:
            for case in plan.cases(budget, self._seconds):
                progress(plan.done, plan.total)
                self._compare(case)
        finally:
            gc.unfreeze()
        progress(plan.done, plan.done)
        if not self._succeeded:
            assert self._last_exception is not None
            what = f"every run raised, so there is nothing to compare: {self._last_exception.text}"
            if self._last_exception.missing:
                raise MissingPackageError(what, self._last_exception.missing)
            raise WorkloadError(what)
        reported = self._confirmed()
        self._notes |= self._excuses.notes
        self._notes |= dict.fromkeys(plan.omissions())
        return Behaviour(
            self._seeds,
            plan.sizes,
            plan.done,
            tuple(map(self._difference, reported)),
            tuple(self._notes),
            fewest=plan.fewest,
        )

    def _lane(self, name: str, *, fresh: bool | None = None) -> _Lane:
        return _Lane(self._subject, name, self._bench, fresh=self._fresh if fresh is None else fresh)

    def _warm_up(self) -> bool:
        """Run each size, so that all packages are loaded and have said what they say only once, and note how
        long that takes. Then say whether loading the program again is quick.
        """
        for size in Plan(self._driver, self._seeds, self._device).sizes:
            started = time.perf_counter()
            for name in (BEFORE, *self._arms):
                self._lane(name, fresh=True).observe(Case(0, size, self._device))
            self._seconds[size] = time.perf_counter() - started
        started = time.perf_counter()
        with self._bench.listener.listening():
            load(self._subject, BEFORE)
        return time.perf_counter() - started < _SLOW

    # --- cases ---

    def _compare(self, case: Case) -> None:
        before = self._lanes[BEFORE].observe(case)
        if case.seed < _REPEATED_SEEDS:
            self._repeat(case, before, self._twin.observe(case))
        failures = [before.raised]
        for name in self._arms:
            after = self._lanes[name].observe(case)
            failures.append(after.raised)
            self._refuse_failing(before, after)
            exact = name == SAFE
            found, notes = differences(before, after, Excuses() if exact else self._excuses)
            self._seen += [_Seen(case, one, name) for one in found if not self._varies(one)]
            self._notes |= notes
        self._succeeded |= None in failures
        if before.raised:
            self._last_exception = before.raised

    def _refuse_failing(self, before: Observation, after: Observation) -> None:
        """A workload that fails in itself is to be mended, whatever the fix does."""
        stages = (PREPARE, OUTCOME)
        one = before.raised
        if one and one.stage in stages and after.raised and after.raised.stage == one.stage:
            what = f"{one.where}: `{one.stage}` raised {one.text}"
            raise MissingPackageError(what, one.missing) if one.missing else WorkloadError(what)

    def _varies(self, found: Found) -> bool:
        """Whether the program does not agree with itself there, and the workload allows that it does not."""
        return any(matches(path, found.path) or path == found.place for path in self._varying)

    def _repeat(self, case: Case, first: Observation, second: Observation) -> None:
        """Compare two runs of the program as it is."""
        found, _ = differences(first, second, Excuses())
        for one in found:
            excuses = Excuses(allowed=self._driver.allowed)
            if not excuses.allows(one.path):
                where = f"{one.kind} of `{one.path}` at seed {case.seed}, size {case.size}"
                raise WorkloadError(
                    f"is not deterministic: {where}: {one.before} in one run, {one.after} in another; "
                    "seed it from the case, leave it out of `outcome`, or name it in `allowed`"
                )
            self._varying[one.place] = None
            self._notes[f"`{one.place}` is not compared, as it varies from run to run before the fix"] = None

    # --- what is reported ---

    def _confirmed(self) -> list[_Seen]:
        """The first differences, smallest size and seed first, each seen again in programs loaded anew."""
        first: dict[tuple[str, str], _Seen] = {}
        for one in sorted(self._seen, key=lambda seen: (seen.case.size, seen.case.seed)):
            if one.key not in first:
                first[one.key] = one
        reported: list[_Seen] = []
        for one in list(first.values())[:_MOST_REPORTED]:
            self._check_repeats(one.case)
            if self._fresh or self._shows_alone(one):
                reported.append(one)
            else:
                where = f"`{one.found.path}` differs at seed {one.case.seed}, size {one.case.size}"
                self._notes[f"{where}, but only after other runs in the same process"] = None
        return [one for one in reported if not self._varies(one.found)]

    def _check_repeats(self, case: Case) -> None:
        runs = [self._lane(BEFORE, fresh=True).observe(case) for _ in range(_REPEATS)]
        for other in runs[1:]:
            self._repeat(case, runs[0], other)

    def _shows_alone(self, one: _Seen) -> bool:
        before, after = (self._lane(name, fresh=True).observe(one.case) for name in (BEFORE, one.arm))
        found, _ = differences(before, after, Excuses() if one.arm == SAFE else self._excuses)
        return one.key in {(other.kind, other.place) for other in found}

    def _difference(self, one: _Seen) -> Difference:
        texts = self._subject.texts
        safe = one.arm == SAFE or texts[SAFE] == texts[AFTER]
        found = one.found
        return Difference(
            found.kind, found.path, one.case.seed, one.case.size, found.before, found.after,
            "safe" if safe else "unsafe",
        )  # fmt: skip
