"""Batches of runs of one arm of a workload at one size: inputs, random streams, and consecutive runs."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import io
import os
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

from rlint.harness.compare.random_streams import seed_streams
from rlint.harness.machine_devices import Clock, loaded_torch, synchronise
from rlint.harness.program import Arm
from rlint.harness.workload import Case

BATCH = 0.001
"""Seconds that a batch should last: far above the resolution of the clock, and below the time after which a
busy system schedules another process, so that most batches run undisturbed.
"""
MOST_RUNS = 100_000
MOST_PREPARING = 0.05
"""Maximum seconds for preparing the inputs of one batch, if that leaves one run."""
MOST_INPUTS = 64
MOST_INPUT_BYTES = 64 * 2**20
_MUCH = 20
_WARM = 0.2  # two successive runs that differ by less count as warm


class ArmAtSize:
    """One arm at one size.

    If runs modify their inputs, each run gets inputs of its own, prepared outside the clock; else all runs
    share one set, as a loop over a filled buffer does.
    """

    def __init__(self, arm: Arm, workload: str, case: Case) -> None:
        self._arm = arm
        self._workload = arm.workloads[workload]
        self._case = case
        self._clock: Clock | None = None
        self._shared: Any = None
        self._input_bytes: int | None = None
        self._preparing = 0.0
        self.runs_change_inputs = True
        self.seconds = 0.0
        """Wall time of one run, as known so far."""

    @property
    def device(self) -> str:
        """Return the kind of device that it runs on."""
        return self._case.device

    @property
    def turn(self) -> float:
        """Return the seconds of one run including its preparation."""
        return self.seconds + (self._preparing if self.runs_change_inputs else 0.0)

    def first_run(self) -> bool:
        """Run once, and return whether that modified the inputs (or may have: not everything can be
        compared).
        """
        with self._ready():
            started = time.perf_counter()
            inputs = self._prepare()
            self._preparing = time.perf_counter() - started
            print_before, self._input_bytes = _fingerprint(inputs)
            seed_streams(self._case)
            self._clock = Clock(self._case.device)  # after the program has loaded its packages
            self._clock.start()
            self._workload.run(self._arm.program, inputs)
            self.seconds = self._clock.stop()[0]
            print_after, _ = _fingerprint(inputs)
        self._shared = inputs
        return print_before is None or print_before != print_after

    def warm_up(self, seconds: float) -> None:
        """Run at least once more, until two successive runs take about the same time or `seconds` are over;
        not at all if the first run has taken much longer than that.

        Short runs then go through batches, which determine the number of runs in a batch.
        """
        if self.runs_change_inputs:
            self._shared = None
        if self.seconds > _MUCH * seconds:
            return
        started = time.perf_counter()
        previous = self.seconds
        while time.perf_counter() - started + previous < max(seconds, 2 * previous):
            self.batch(runs=1)
            if abs(self.seconds - previous) <= _WARM * previous:
                break
            previous = self.seconds
        for _ in range(2):
            if self.seconds < BATCH / 2:
                self.batch()

    def batch(self, runs: int | None = None) -> tuple[float, float]:
        """Return wall and processor time of one run, in seconds, as the mean over a batch."""
        count = self._runs() if runs is None else runs
        with self._ready():
            if self.runs_change_inputs:
                inputs = [self._prepare() for _ in range(count)]
            else:
                inputs = [self._shared] * count
            gc.collect()
            seed_streams(self._case)
            wall, cpu = self._timed(inputs)
        self.seconds = wall / count
        return wall / count, cpu / count

    @contextlib.contextmanager
    def prepared(self) -> Iterator[Callable[[], Any]]:
        """Return a function that runs once, with its inputs ready: for observers other than a clock."""
        with self._ready():
            inputs = self._prepare() if self.runs_change_inputs else self._shared
            gc.collect()
            seed_streams(self._case)
            yield functools.partial(self._workload.run, self._arm.program, inputs)

    def _timed(self, inputs: list[Any]) -> tuple[float, float]:
        run, program, clock = self._workload.run, self._arm.program, self._clock
        assert clock is not None
        clock.start()
        for one in inputs:
            run(program, one)
        return clock.stop()

    def _runs(self) -> int:
        wanted = min(MOST_RUNS, BATCH / max(self.seconds, 1e-8))
        if self.runs_change_inputs:
            wanted = min(wanted, MOST_INPUTS, MOST_PREPARING / max(self._preparing, 1e-6))
            if self._input_bytes is not None:
                wanted = min(wanted, MOST_INPUT_BYTES / max(self._input_bytes, 1))
        return max(1, int(wanted))

    def _prepare(self) -> Any:
        seed_streams(self._case)
        inputs = self._workload.prepare(self._arm.program, self._case)
        synchronise(self._case.device)
        return inputs

    @contextlib.contextmanager
    def _ready(self) -> Iterator[None]:
        with self._arm.active(), silenced():
            yield


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Redirect a program's output to a real file, as costly as normal output."""
    with (
        open(os.devnull, "w", encoding="utf-8", errors="replace") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def settle_memory() -> None:
    """Collect garbage, and exclude existing objects from later collections, until `gc.unfreeze`."""
    gc.collect()
    gc.freeze()


def _fingerprint(inputs: object) -> tuple[bytes | None, int | None]:
    """Return a digest of the inputs and their size in bytes; None and None if they cannot be pickled."""
    digest = _Digest()
    pickler = _GradientPickler(digest, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        pickler.dump(inputs)
        pickler.dump(pickler.gradients)
    except Exception:  # noqa: BLE001 - any object may refuse, in its own words
        return None, None
    return digest.hash.digest(), digest.length


class _Digest(io.RawIOBase):
    """A file that keeps only a digest of what is written to it."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b()
        self.length = 0

    def write(self, data: Any) -> int:
        count = memoryview(data).nbytes
        self.hash.update(data)
        self.length += count
        return count


class _GradientPickler(pickle.Pickler):
    """Collects the gradients of tensors, which pickling leaves out."""

    def __init__(self, file: _Digest, protocol: int) -> None:
        super().__init__(file, protocol)
        self.gradients: list[Any] = []
        self._torch: Any = loaded_torch()

    def reducer_override(self, obj: Any) -> Any:
        """Pickle as usual, and record the gradient."""
        if self._torch is not None and isinstance(obj, self._torch.Tensor) and obj.is_leaf:
            self.gradients.append(obj.grad)
        return NotImplemented
