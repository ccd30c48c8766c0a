"""Run jobs for the workloads of experiments, retry without those that crash, and record the rest."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rlint.harness.machine_devices import KINDS
from rlint.harness.processes import process
from rlint.harness.processes.job import DEVICES, BenchJob, Declared, Message
from rlint.harness.processes.start import ForkServers

if TYPE_CHECKING:
    from rlint.evidence.results import Behaviour
    from rlint.harness.measure.memory import MemoryUse
    from rlint.harness.measure.synchronisations import HostWaits
    from rlint.harness.measure.timing import Round
    from rlint.harness.session_options import SessionOptions
    from rlint.harness.subjects import Experiment


@dataclass(frozen=True, slots=True)
class BenchFailure:
    """Why a workload could not be run to its end."""

    why: str
    lacking: str = ""
    """A module that is not installed."""


@dataclass(slots=True)
class Record:
    """The results of one workload on one device so far."""

    experiment: Experiment
    declared: Declared
    device: str
    behaviour: Behaviour | None = None
    rounds: list[Round] = field(default_factory=list)
    """Of all processes."""
    memory: list[MemoryUse] = field(default_factory=list)
    synchronisations: list[HostWaits] = field(default_factory=list)
    failure: BenchFailure | None = None

    @property
    def measurable(self) -> bool:
        """Whether there is a point in measuring costs."""
        compared = self.behaviour
        fine = self.failure is None and compared is not None and compared.same and compared.enough
        return fine and bool(self.declared.claims_on(self.device))


class Bench:
    """May be used from several threads at once, each with experiments and devices of its own."""

    def __init__(
        self, options: SessionOptions, servers: ForkServers, runner: process.JobRunner | None = None
    ) -> None:
        self._options = options
        self.runner: process.JobRunner = runner or process.OnThisMachine()
        self._servers = servers
        self._lock = threading.Lock()
        self._records: dict[tuple[str, str, str], Record] = {}
        self.stop = threading.Event()
        """Once set, every running job ends with StoppedError."""
        self.unloadable: dict[str, BenchFailure] = {}
        """Why an experiment could not be loaded, by its label."""
        self.declared: dict[str, tuple[Declared, ...]] = {}
        """The workloads of each loaded experiment, in the file's order."""
        self.devices: dict[str, tuple[str | None, str]] = {"cpu": (None, "")}
        """For each kind, why it does not exist (None: it does), and its name."""

    def look_for_devices(self) -> None:
        """Detect the devices."""
        found = dict(self.devices)

        def take(message: Message) -> None:
            found.update(message.data)

        try:
            self.runner.run(BenchJob(DEVICES), self._limits(), take, threads=1, stop=self.stop)
        except process.EndedError as error:
            found.update(dict.fromkeys(KINDS[1:], (f"detecting it failed: {error}", "")))
        self.devices = found

    def missing(self, device: str) -> str | None:
        """Return why there is no device of a kind; None if there is one."""
        return self.devices.get(device, ("it was not checked for", ""))[0]

    def accelerator(self) -> str:
        """Return the name of the first device besides the CPU, or ""."""
        return next((self.devices[kind][1] for kind in KINDS[1:] if not self.missing(kind)), "")

    def record(self, experiment: Experiment, device: str, workload: str) -> Record | None:
        """Return the results of a workload on a device."""
        return self._records.get((experiment.label, device, workload))

    def measurable(self, experiment: Experiment, device: str) -> list[Record]:
        """Return the workloads of an experiment whose cost is worth measuring, in the file's order."""
        found = (self.record(experiment, device, one.name) for one in self.declared.get(experiment.label, ()))
        return [record for record in found if record is not None and record.measurable]

    def run(self, job: BenchJob, experiment: Experiment, *, hash_seed: int = 0) -> list[tuple[Record, Any]]:
        """Run a job, and retry without the workload that ended it, until all others are done."""
        results: list[tuple[Record, Any]] = []
        begun: list[str] = []

        def take(message: Message) -> None:
            if message.kind == "begun":
                begun.append(message.workload)
            self._take(message, job.device, experiment, results)

        left = job.workloads
        start = self._servers.start_for(job.subject, job.device)
        while True:
            begun.clear()
            try:
                self.runner.run(
                    replace(job, workloads=left),
                    self._limits(),
                    take,
                    threads=1,
                    hash_seed=hash_seed,
                    stop=self.stop,
                    start=start,
                )
            except process.EndedError as error:
                if not begun:
                    self.unloadable[experiment.label] = BenchFailure(f"loading it {error}")
                    return results
                self._known(experiment, job.device, begun[-1]).failure = BenchFailure(str(error))
                names = [one.name for one in self.declared[experiment.label]] if left is None else list(left)
                left = tuple(names[names.index(begun[-1]) + 1 :])
                if left:
                    continue
            return results

    def _limits(self) -> process.ProcessLimits:
        return process.ProcessLimits(self._options.silence, self._options.memory)

    def _take(
        self, message: Message, device: str, experiment: Experiment, results: list[tuple[Record, Any]]
    ) -> None:
        if message.kind == "declared":
            self.declared[experiment.label] = message.data
        elif message.kind in ("failed", "lacking") and not message.workload:
            self.unloadable[experiment.label] = _failure(message)
        elif message.workload:
            record = self._known(experiment, device, message.workload)
            if message.kind == "result":
                results.append((record, message.data))
            elif message.kind in ("failed", "lacking"):
                record.failure = _failure(message)

    def _known(self, experiment: Experiment, device: str, workload: str) -> Record:
        key = (experiment.label, device, workload)
        with self._lock:
            if key not in self._records:
                declared = next(one for one in self.declared[experiment.label] if one.name == workload)
                self._records[key] = Record(experiment, declared, device)
            return self._records[key]


def _failure(message: Message) -> BenchFailure:
    return BenchFailure(*message.data) if message.kind == "lacking" else BenchFailure(message.data)
