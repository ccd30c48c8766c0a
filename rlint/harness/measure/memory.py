"""Measure the memory of one run, before and after the fix."""

from __future__ import annotations

import contextlib
import gc
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rlint.harness.machine_devices import loaded_torch, set_threads, synchronise
from rlint.harness.measure.timed_batches import ArmAtSize, settle_memory
from rlint.harness.program import AFTER, BEFORE, Subject, load
from rlint.harness.workload import Case

MOST_ALLOCATIONS = 500_000
_LONG = 1.0  # seconds; a run longer than this is observed once
_SHORT = 0.05  # seconds; a run shorter than this is easily disturbed


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory of one run, above the level at its start."""

    size: int
    arm: str
    """BEFORE or AFTER."""
    run: int
    peak_host: int
    """Bytes: the peak of Python and numpy, and the peak of PyTorch on the host.

    The two may peak at different times, so a program that uses both held at most this.
    """
    peak_device: int | None
    """Bytes that PyTorch held on a CUDA device; None elsewhere."""
    allocations: int
    """Number of tensor allocations by PyTorch, on the host and on a CUDA device.

    Python objects and numpy arrays are not counted: their allocations are not reported.
    """


def measure(
    subject: Subject, workload: str, device: str, *, sizes: Sequence[int], runs: int = 3
) -> list[MemoryUse]:
    """Observe some runs of each arm at each size, after runs that fill caches.

    Inputs are prepared before, and the result is alive when the peak is read. Observing slows the run down
    several times. Exceptions of the workload are raised. Sizes at which PyTorch is likely to allocate more
    than MOST_ALLOCATIONS times are left out: each allocation takes some 3 kB of records.
    """
    settle_memory()  # scanning packages takes longer than most runs
    try:
        return _measured(subject, workload, device, sizes, runs)
    finally:
        gc.unfreeze()


def _measured(
    subject: Subject, workload: str, device: str, sizes: Sequence[int], runs: int
) -> list[MemoryUse]:
    uses = []
    for name in (BEFORE, AFTER):
        arm = load(subject, name)
        driver = arm.workloads[workload]
        set_threads(driver.threads)
        rate = 0.0  # allocations per second, as far as sizes are known
        for size in sorted({driver.sizes[0], *sizes}):  # the smallest size predicts the others
            point = ArmAtSize(arm, workload, Case(0, size, device))
            point.runs_change_inputs = point.first_run()
            seconds = _least_time(point)
            if rate * seconds > MOST_ALLOCATIONS:
                break
            found = [observe(point, size, name, run) for run in range(runs if point.turn < _LONG else 1)]
            rate = max(use.allocations for use in found) / max(seconds, 1e-6)
            uses += found if size in sizes else []
    return uses


def _least_time(point: ArmAtSize) -> float:
    """Return the seconds of an undisturbed run."""
    point.batch(runs=1)
    if point.turn >= _SHORT:
        return point.seconds
    return min(point.seconds, *(point.batch(runs=1)[0] for _ in range(3)))


def observe(point: ArmAtSize, size: int, arm: str, run: int) -> MemoryUse:
    """Observe one run of an arm, which has run before."""
    settle_memory()
    with point.prepared() as action, _observed(point.device) as seen:
        seen.result = action()
    return MemoryUse(size, arm, run, seen.peak_host, seen.peak_device, seen.allocations)


@dataclass(slots=True)
class _Seen:
    result: object = None
    """Kept alive until the peaks are read."""
    peak_host: int = 0
    peak_device: int | None = None
    allocations: int = 0


@contextlib.contextmanager
def _observed(device: str) -> Iterator[_Seen]:
    seen = _Seen()
    with _torch_on_host(seen), _torch_on_cuda(seen, device):
        tracemalloc.start()
        try:
            started, _ = tracemalloc.get_traced_memory()
            yield seen
            synchronise(device)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        seen.result = None  # freed here: in the next run, it would reduce that run's peak
        seen.peak_host += peak - started


@contextlib.contextmanager
def _torch_on_host(seen: _Seen) -> Iterator[None]:
    """Record what PyTorch allocates and frees on the host, with its profiler."""
    torch = loaded_torch()
    if torch is None:
        yield
        return
    # The part that `torch.profiler` is built on; that module itself imports a compiler first.
    with torch.autograd.profiler.profile(use_cpu=True, profile_memory=True) as profiler:
        yield
    changes = [
        (_start(event), event.nbytes())
        for event in profiler.kineto_results.events()
        if event.name() == "[memory]" and event.device_type() == torch.autograd.DeviceType.CPU
    ]
    seen.allocations += sum(size > 0 for _, size in changes)
    seen.peak_host += peak_of(changes)


def _start(event: Any) -> int:
    """Return the start of an event; PyTorch before 2.4 reports it in microseconds."""
    found: int = event.start_ns() if hasattr(event, "start_ns") else event.start_us()
    return found


def peak_of(changes: Iterable[tuple[int, int]]) -> int:
    """Return the peak above the start, from pairs of a time and the bytes allocated or (below 0) freed."""
    held = peak = 0
    for _, size in sorted(changes, key=lambda change: change[0]):
        held += size
        peak = max(peak, held)
    return peak


@contextlib.contextmanager
def _torch_on_cuda(seen: _Seen, device: str) -> Iterator[None]:
    """Read the counters of PyTorch's allocator for the current CUDA device."""
    torch = loaded_torch()
    if torch is None or device != "cuda":
        yield
        return
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated()
    count = _allocations_on_cuda(torch)
    yield
    seen.peak_device = torch.cuda.max_memory_allocated() - held
    seen.allocations += _allocations_on_cuda(torch) - count


def _allocations_on_cuda(torch: Any) -> int:
    found: int = torch.cuda.memory_stats().get("allocation.all.allocated", 0)
    return found
