"""A whole `rlint verify` session: the order of its phases, and its result."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from rlint.evidence.results import Measurement, RuleOutcome, Session, Verdict
from rlint.harness.machine_devices import KINDS
from rlint.harness.measure import verdicts
from rlint.harness.missing_packages import how_to_install
from rlint.harness.processes import process
from rlint.harness.processes.bench import Bench, BenchFailure, Record
from rlint.harness.processes.job import BEHAVIOUR, MEMORY, SYNCHRONISATIONS, TIMING, BenchJob, Declared
from rlint.harness.processes.start import ForkServers
from rlint.harness.session_options import Progress, SessionOptions, Silent

if TYPE_CHECKING:
    from rlint.harness.subjects import Experiment


_OF_PHASE = {MEMORY: {"mem", "alloc"}, SYNCHRONISATIONS: {"sync"}}
"""Claims that are measured in phases other than timing."""


def verify(
    experiments: Sequence[Experiment],
    options: SessionOptions,
    progress: Progress | None = None,
    runner: process.JobRunner | None = None,
) -> Session:
    """Run experiments and judge them. Ctrl-C ends all processes; results so far are returned.

    Jobs run on this machine unless a `runner` runs them elsewhere.
    """
    with contextlib.closing(ForkServers()) as servers:
        bench = Bench(options, servers, runner)
        return _Verification(experiments, options, progress or Silent(), bench).run()


class _Verification:
    def __init__(
        self, experiments: Sequence[Experiment], options: SessionOptions, progress: Progress, bench: Bench
    ) -> None:
        self._experiments = experiments
        self._options = options
        self._progress = progress
        self._bench = bench
        self._slots = bench.runner.slots

    def run(self) -> Session:
        """Run all phases, until the user interrupts."""
        started = time.monotonic()
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        interrupted = False
        try:
            self._compare_and_weigh()
            self._time()
        except (KeyboardInterrupt, process.StoppedError):
            self._bench.stop.set()
            interrupted = True
        return Session(
            machine=self._bench.runner.describe(self._bench.accelerator()),
            date=date,
            seconds=time.monotonic() - started,
            quick=self._options.quick,
            outcomes=tuple(self._outcomes(interrupted=interrupted)),
            interrupted=interrupted,
        )

    # --- behaviour and memory, on all cores: other load of the machine affects neither ---

    def _compare_and_weigh(self) -> None:
        wanted = self._options.devices
        with _Pool(self._slots["cpu"] + self._slots.get("cuda", 0), self._bench.stop) as submit:
            others = [kind for kind in KINDS[1:] if wanted is None or kind in wanted]
            looking = submit(self._bench.look_for_devices) if others else None
            # The declarations of a program are known once it has run on the CPU, which it always can.
            done = [self._submit(submit, experiment, "cpu") for experiment in self._experiments]
            if looking is not None:
                _wait(looking)
            for kind in others:
                if self._bench.missing(kind) is None:
                    done += [self._submit(submit, experiment, kind) for experiment in self._experiments]
            for one in done:
                _wait(one)

    def _submit(
        self, submit: Callable[..., Future[None]], experiment: Experiment, device: str
    ) -> Future[None]:
        self._progress.expect(1)
        return submit(self._compare, experiment, device)

    def _compare(self, experiment: Experiment, device: str) -> None:
        title = f"{experiment.label} {experiment.name}".strip()
        self._progress.begin(f"{title}: behaviour on {device}")
        job = BenchJob(
            BEHAVIOUR,
            experiment.subject,
            device=device,
            seeds=self._options.seeds,
            budget=self._options.pace.behaviour,
            quick=self._options.quick,
            # If the CPU is not requested, only its declarations are read there.
            workloads=None if self._options.wants(device) else (),
        )
        for record, data in self._bench.run(job, experiment):
            record.behaviour = data
        for phase in (MEMORY, SYNCHRONISATIONS) if device == "cuda" else (MEMORY,):
            names = tuple(
                record.declared.name
                for record in self._bench.measurable(experiment, device)
                # Unclaimed costs are measured, too, if there is time.
                if not self._options.quick or _OF_PHASE[phase] & set(record.declared.claims_on(device))
            )
            if not names:
                continue
            self._progress.begin(f"{title}: {phase} on {device}")
            weigh = BenchJob(phase, experiment.subject, names, device=device, quick=self._options.quick)
            for record, data in self._bench.run(weigh, experiment):
                if phase == MEMORY:
                    record.memory = data
                else:
                    record.synchronisations = data
        self._progress.advance()

    # --- time, with nothing else going on, unless the pace says otherwise ---

    def _time(self) -> None:
        pace = self._options.pace
        places = [
            (experiment, device)
            for experiment in self._experiments
            for device in KINDS
            if self._bench.measurable(experiment, device)
        ]
        count = sum(len(self._bench.measurable(*place)) for place in places)
        if not count:
            return
        budget = min(max(pace.timing / (count * pace.processes), pace.least), pace.most)
        self._progress.expect(len(places) * pace.processes)
        # Each machine times one program at a time, and each of its GPUs another.
        alone = self._slots["nodes"] + self._slots.get("cuda", 0)
        with _Pool(self._slots["cpu"] if pace.together else alone, self._bench.stop) as submit:
            for number in range(pace.processes):
                rounds = [submit(self._time_all, place, number, budget) for place in places]
                for one in rounds:
                    _wait(one)
            end = time.monotonic() + pace.further
            for number in range(pace.processes, pace.processes + pace.more):
                rounds = [submit(self._time_undecided, place, number, budget, end) for place in places]
                for one in rounds:
                    _wait(one)

    def _time_all(self, place: tuple[Experiment, str], number: int, budget: float) -> None:
        self._time_once(*place, self._bench.measurable(*place), number, budget)
        self._progress.advance()

    def _time_undecided(self, place: tuple[Experiment, str], number: int, budget: float, end: float) -> None:
        left = [one for one in self._bench.measurable(*place) if _undecided(one)]
        if left and time.monotonic() < end:
            self._progress.expect(1)
            self._time_once(*place, left, number, budget)
            self._progress.advance()

    def _time_once(
        self, experiment: Experiment, device: str, records: list[Record], number: int, budget: float
    ) -> None:
        names = tuple(record.declared.name for record in records)
        if not names:  # a measurable workload has crashed meanwhile
            return
        title = f"{experiment.label} {experiment.name}".strip()
        self._progress.begin(f"{title}: timing on {device}, process {number + 1}")
        job = BenchJob(
            TIMING,
            experiment.subject,
            names,
            device=device,
            budget=budget,
            round=number,
            quick=self._options.quick,
        )
        for record, data in self._bench.run(job, experiment, hash_seed=number):
            record.rounds += data

    # --- the overall result ---

    def _outcomes(self, *, interrupted: bool) -> Iterator[RuleOutcome]:
        for experiment in self._experiments:
            why = self._bench.unloadable.get(experiment.label)
            if why is not None:
                yield _not_loaded(experiment, why)
                continue
            for device in KINDS:
                for declared in self._bench.declared.get(experiment.label, ()):
                    if self._options.wants(device) and device in declared.devices:
                        yield self._outcome(experiment, declared, device, interrupted=interrupted)

    def _outcome(
        self, experiment: Experiment, declared: Declared, device: str, *, interrupted: bool
    ) -> RuleOutcome:
        record = self._bench.record(experiment, device, declared.name)
        missing = self._bench.missing(device)
        measured: tuple[Measurement, ...] = ()
        verdict, reason, failed = Verdict.NOT_RUN, missing, False
        if missing is None and record is not None and record.failure is not None:
            reason, failed = _explained(experiment, record.failure)
        elif missing is None and (record is None or record.behaviour is None):
            reason, failed = ("interrupted" if interrupted else "it produced no result"), not interrupted
        elif missing is None and record is not None and record.behaviour is not None:
            if record.measurable and not record.rounds:
                reason, failed = ("interrupted" if interrupted else "nothing was timed"), not interrupted
            else:
                measured = _measured(record)
                verdict, reason = verdicts.judge(
                    record.behaviour,
                    measured,
                    declared=declared.claims,
                    device=device,
                    typical=declared.typical,
                )
        return RuleOutcome(
            subject=experiment.label,
            name=experiment.name,
            workload=declared.name,
            title=declared.title,
            device=device,
            unit=declared.unit,
            typical=declared.typical,
            verdict=verdict,
            claims=declared.claims_on(device),
            reason=reason,
            behaviour=record.behaviour if record else None,
            measurements=measured,
            estimate=declared.estimate,
            failed=failed,
        )


def _measured(record: Record) -> tuple[Measurement, ...]:
    return verdicts.measurements(
        record.rounds,
        record.memory,
        record.synchronisations,
        claims=record.declared.claims_on(record.device),
        device=record.device,
    )


def _undecided(record: Record) -> bool:
    return verdicts.undecided(_measured(record), typical=record.declared.typical)


def _explained(experiment: Experiment, failure: BenchFailure) -> tuple[str, bool]:
    """Return why a workload was not run, and whether that is a failure.

    The program of a rule may need a package that the user does not need.
    """
    if failure.lacking and experiment.name:
        return f"{failure.lacking} is not installed: {how_to_install(failure.lacking)}", False
    return failure.why, True


def _not_loaded(experiment: Experiment, why: BenchFailure) -> RuleOutcome:
    reason, failed = _explained(experiment, why)
    return RuleOutcome(
        subject=experiment.label,
        name=experiment.name,
        workload="",
        title="",
        device="cpu",
        unit="",
        typical=0,
        verdict=Verdict.NOT_RUN,
        reason=reason,
        failed=failed,
    )


class _Pool:
    """Threads that each wait for a process. Leaving the context by an exception stops all of them."""

    def __init__(self, size: int, stop: threading.Event) -> None:
        self._threads = ThreadPoolExecutor(size)
        self._stop = stop

    def __enter__(self) -> Callable[..., Future[None]]:
        return self._threads.submit

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None:
            self._stop.set()
        self._threads.shutdown(wait=True, cancel_futures=error is not None)


def _wait(future: Future[None]) -> None:
    """Wait in steps: an unlimited wait would delay Ctrl-C on some systems."""
    while not future.done():
        wait([future], timeout=0.2)
    future.result()
