"""Count synchronisations with the GPU, and copies between host and device."""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlint.harness.machine_devices import loaded_torch, set_threads, synchronise
from rlint.harness.measure.timed_batches import ArmAtSize, settle_memory
from rlint.harness.program import AFTER, BEFORE, Subject, load
from rlint.harness.workload import Case

_MARK = "rlint: the run"
_WAITS = frozenset(
    """
    cudaDeviceSynchronize cudaStreamSynchronize cudaEventSynchronize
    cuCtxSynchronize cuStreamSynchronize cuEventSynchronize
    cudaMemcpy cudaMemcpy2D cudaMemcpy3D cudaMemcpyToSymbol cudaMemcpyFromSymbol
    """.split()
)
"""Calls of the CUDA runtime and driver that return only when the device is done."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Synchronisations and copies between host and device."""

    waits: int = 0
    """Calls that synchronised with the device."""
    to_device: int = 0
    to_device_bytes: int = 0
    to_host: int = 0
    to_host_bytes: int = 0


@dataclass(frozen=True, slots=True)
class HostWaits:
    """One run of one arm at one size."""

    size: int
    arm: str
    """BEFORE or AFTER."""
    run: int
    traffic: Traffic


def why_not(device: str) -> str | None:
    """Return why synchronisations cannot be counted on a kind of device, or None if they can."""
    return None if device == "cuda" else f"synchronisations can be counted on cuda only, not on {device}"


def measure(
    subject: Subject, workload: str, device: str, *, sizes: Sequence[int], runs: int = 3
) -> list[HostWaits]:
    """Trace some runs of each arm at each size with PyTorch's profiler, after a warm-up run.

    Yields nothing if `why_not` returns a reason, or if the program does not use PyTorch. Exceptions of the
    workload are raised.
    """
    if why_not(device) is not None:
        return []
    found = []
    for name in (BEFORE, AFTER):
        arm = load(subject, name)
        set_threads(arm.workloads[workload].threads)
        for size in sizes:
            point = ArmAtSize(arm, workload, Case(0, size, device))
            point.runs_change_inputs = point.first_run()
            if loaded_torch() is None:
                return []
            settle_memory()
            found += [HostWaits(size, name, run, traced(point, device)) for run in range(runs)]
            gc.unfreeze()
    return found


def traced(point: ArmAtSize, device: str) -> Traffic:
    """Trace one run of an arm, which has run before."""
    torch = loaded_torch()
    kinds = torch.profiler.ProfilerActivity
    with point.prepared() as action:
        synchronise(device)
        with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]) as profiler:
            with torch.profiler.record_function(_MARK):
                result = action()
            synchronise(device)  # so that pending copies are in the trace
        del result
    return traffic_in(profiler)


def traffic_in(profiler: Any) -> Traffic:
    """Count synchronisations and copies in the record of a PyTorch profiler. Only its trace contains numbers
    of bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return traffic_of(json.loads(path.read_text(encoding="utf-8"))["traceEvents"])


def traffic_of(events: Iterable[Mapping[str, Any]]) -> Traffic:
    """Count synchronisations and copies of the marked run in the events of a trace, in the format of
    `export_chrome_trace`.

    Calls belong to the run by their time. A copy belongs to the run whose call requested it, because it may
    end later.
    """
    complete = [event for event in events if event.get("ph") == "X"]
    start, end = next(
        (event["ts"], event["ts"] + event["dur"])
        for event in complete
        if event["name"] == _MARK and event.get("cat") != "gpu_user_annotation"
    )
    calls = [
        event
        for event in complete
        if event.get("cat") in {"cuda_runtime", "cuda_driver"} and start <= event["ts"] < end
    ]
    requested = {_correlation(event) for event in calls} - {None}
    copies = [
        event
        for event in complete
        if event.get("cat") in {"gpu_memcpy", "Memcpy"} and _correlation(event) in requested
    ]
    to_device = [event for event in copies if "HtoD" in event["name"]]
    to_host = [event for event in copies if "DtoH" in event["name"]]
    return Traffic(
        waits=sum(event["name"] in _WAITS for event in calls),
        to_device=len(to_device),
        to_device_bytes=sum(_bytes(event) for event in to_device),
        to_host=len(to_host),
        to_host_bytes=sum(_bytes(event) for event in to_host),
    )


def _correlation(event: Mapping[str, Any]) -> object:
    return event.get("args", {}).get("correlation")


def _bytes(event: Mapping[str, Any]) -> int:
    return int(event.get("args", {}).get("bytes", 0))
