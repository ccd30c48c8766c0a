"""Devices of this machine: which exist, their names, and how to time work on them.

For the processes that run programs: PyTorch is imported only if it is requested by name.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlint.registry.recorded_gain import DEVICES

KINDS = DEVICES
"""The kinds of devices that workloads may name, in the order of reports."""

_children_time: Callable[[], float] | None = None
with contextlib.suppress(ImportError):  # Windows has no `resource`
    import resource

    def _time_of_ended_children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    _children_time = _time_of_ended_children


def available() -> dict[str, str | None]:
    """Return for each kind of device why it does not exist, or None if it does. Imports PyTorch."""
    if importlib.util.find_spec("torch") is None:
        why = "PyTorch is not installed"
        return {"cpu": None, "cuda": why, "mps": why}
    try:
        torch = importlib.import_module("torch")
    except Exception as error:  # noqa: BLE001 - a broken installation may raise anything
        why = f"PyTorch cannot be imported: {type(error).__name__}: {error}"
        return {"cpu": None, "cuda": why, "mps": why}
    return {"cpu": None, "cuda": _why_no_cuda(torch), "mps": _why_no_mps(torch)}


def _why_no_cuda(torch: Any) -> str | None:
    if not torch.backends.cuda.is_built():
        return "no CUDA GPU: PyTorch was built without CUDA"
    if not torch.cuda.is_available():
        return "no CUDA GPU: PyTorch was built with CUDA but finds no usable GPU"
    return None


def _why_no_mps(torch: Any) -> str | None:
    if not torch.backends.mps.is_built():
        return "no Apple GPU: PyTorch was built without MPS"
    if not torch.backends.mps.is_available():
        return "no Apple GPU: PyTorch was built with MPS, but finds no usable GPU"
    return None


def describe(device: str) -> str:
    """Return the name of a device's hardware: "NVIDIA H100 PCIe, 80 GiB"."""
    if device == "cuda":
        torch = importlib.import_module("torch")
        found = torch.cuda.get_device_properties(torch.cuda.current_device())
        return f"{found.name}, {found.total_memory / 2**30:.0f} GiB"
    if device == "mps":
        return f"{_processor()} GPU"
    return _processor()


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine() or "unknown processor"


def loaded_torch() -> Any:
    """Return PyTorch if the program under test has imported it, else None."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def set_threads(count: int) -> None:
    """Let PyTorch use `count` threads within an operation, if it is loaded.

    Other libraries read their number from the environment on import.
    """
    torch = loaded_torch()
    if torch is not None:
        torch.set_num_threads(count)


def synchronise(device: str) -> None:
    """Wait until all work queued on a device is done. Work on the CPU is done when it returns."""
    torch = loaded_torch()
    if torch is None:
        return
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


class Clock:
    """Times work on one device: `start`, the work, then `stop`, which synchronises.

    Wall time is that of CUDA events if the device has them, so that host time between launching the work and
    synchronising is included, and the synchronisation itself is not. Processor time is that of all threads of
    this process, and of child processes that have ended meanwhile.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._events: tuple[Any, Any] | None = None
        torch = loaded_torch()
        if device == "cuda" and torch is not None:
            self._events = (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
        self._wall = self._cpu = 0.0

    def start(self) -> None:
        """Start the clock, with the device idle."""
        synchronise(self._device)
        self._cpu = _processor_time()
        if self._events is not None:
            self._events[0].record()
        self._wall = time.perf_counter()

    def stop(self) -> tuple[float, float]:
        """Return the seconds since `start`: wall time and processor time."""
        if self._events is None:
            synchronise(self._device)
            wall = time.perf_counter() - self._wall
        else:
            self._events[1].record()
            synchronise(self._device)
            wall = self._events[0].elapsed_time(self._events[1]) / 1e3
        return wall, _processor_time() - self._cpu


def _processor_time() -> float:
    own = time.process_time()
    return own if _children_time is None else own + _children_time()
