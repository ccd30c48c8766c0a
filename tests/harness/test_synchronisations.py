"""Copies and synchronisations are counted in a profiler's trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_programs import NAME, write
from rlint.harness.measure import synchronisations
from rlint.harness.measure.synchronisations import Traffic, traffic_of, why_not

RUN = {"ph": "X", "cat": "user_annotation", "name": "rlint: the run", "ts": 100.0, "dur": 50.0, "args": {}}


def call(name: str, ts: float, correlation: int = 0) -> dict[str, Any]:
    """A call of the CUDA runtime, as in a trace."""
    args = {"cbid": 1, "correlation": correlation}
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "ts": ts, "dur": 1.0, "args": args}


def copy(name: str, correlation: int, count: int, ts: float = 500.0) -> dict[str, Any]:
    """A copy by the device, as in a trace."""
    args = {"device": 0, "stream": 7, "correlation": correlation, "bytes": count}
    return {"ph": "X", "cat": "gpu_memcpy", "name": name, "ts": ts, "dur": 2.0, "args": args}


def test_calls_that_wait_are_counted() -> None:
    """`.item()` copies and waits; a kernel is launched without waiting."""
    events = [
        RUN,
        call("cudaLaunchKernel", 101),
        call("cudaMemcpyAsync", 103, correlation=9),
        call("cudaStreamSynchronize", 104),
        call("cudaDeviceSynchronize", 110),
        call("cudaEventSynchronize", 111),
        call("cudaMemcpy", 112),
        call("cudaEventQuery", 113),
        call("cudaStreamWaitEvent", 114),
        copy("Memcpy DtoH (Device -> Pageable)", 9, 4),
    ]
    assert traffic_of(events) == Traffic(waits=4, to_host=1, to_host_bytes=4)


def test_both_directions_are_distinguished() -> None:
    """Copies of batches to the device and of losses from it are counted with their bytes."""
    events = [
        RUN,
        *(call("cudaMemcpyAsync", 100 + number, number) for number in range(1, 5)),
        copy("Memcpy HtoD (Pageable -> Device)", 1, 1000),
        copy("Memcpy HtoD (Pinned -> Device)", 2, 2000),
        copy("Memcpy DtoH (Device -> Pinned)", 3, 40),
        copy("Memcpy DtoD (Device -> Device)", 4, 77),
    ]
    found = traffic_of(events)
    assert (found.to_device, found.to_device_bytes, found.to_host, found.to_host_bytes) == (2, 3000, 1, 40)


def test_what_happens_outside_the_run_does_not_count() -> None:
    """Synchronisations by the profiler, and copies while preparing inputs, are not counted."""
    events = [
        call("cudaMemcpyAsync", 99, 1),
        copy("Memcpy HtoD (Pageable -> Device)", 1, 1000, ts=101),
        RUN,
        {**RUN, "cat": "gpu_user_annotation", "ts": 0.0, "dur": 9999.0},
        call("cudaDeviceSynchronize", 151),
    ]
    assert traffic_of(events) == Traffic()


def test_other_kinds_of_events_do_no_harm() -> None:
    """Traces also name processes and draw arrows, in events of other shapes."""
    events = [
        {"ph": "M", "name": "process_name", "args": {"name": "python"}},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "ts": 104.0, "id": 9},
        RUN,
        {"ph": "X", "cat": "cpu_op", "name": "aten::item", "ts": 101.0, "dur": 3.0},
    ]
    assert traffic_of(events) == Traffic()


@given(st.lists(st.sampled_from(["cudaStreamSynchronize", "cudaLaunchKernel", "cudaMemcpyAsync"])))
def test_each_wait_counts_once(names: list[str]) -> None:
    """The number of synchronisations is that of blocking calls."""
    events = [RUN, *(call(name, 100 + at / 100) for at, name in enumerate(names))]
    assert traffic_of(events).waits == names.count("cudaStreamSynchronize")


@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_other_devices_say_that_it_cannot_be(tmp_path: Path, device: str) -> None:
    """If nothing can be counted, there are no figures."""
    assert "cuda" in (why_not(device) or "")
    assert synchronisations.measure(write(tmp_path, "def run(n): 1 / 0"), NAME, device, sizes=(1,)) == []


def test_the_run_is_found_in_a_real_trace(tmp_path: Path) -> None:
    """A real trace of PyTorch contains the mark on which the count relies."""
    torch = pytest.importorskip("torch")
    kinds = torch.profiler.ProfilerActivity
    with (
        torch.profiler.profile(activities=[kinds.CPU]) as profiler,
        torch.profiler.record_function(RUN["name"]),
    ):
        torch.ones(3).sum().item()
    assert synchronisations.traffic_in(profiler) == Traffic()
