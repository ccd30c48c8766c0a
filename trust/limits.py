"""Limits of time and memory for one input."""

from __future__ import annotations

import contextlib
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

MOST_SECONDS = 10.0
MOST_BYTES = 1_000_000_000
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class OvertimeError(BaseException):
    """The time limit was exceeded. Not an `Exception`, so that rlint's handlers do not catch it."""


@dataclass
class Spent:
    """The cost of some work: processor seconds, and bytes above those in use before."""

    seconds: float = 0.0
    bytes: int = 0


@contextlib.contextmanager
def watched(most_seconds: float = MOST_SECONDS) -> Iterator[Spent]:
    """Measure the cost of the body; raise OvertimeError in it once it has used more processor time."""
    spent = Spent()
    before = _begin_memory()
    started = time.process_time()
    old = signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, most_seconds, 0.5)
    try:
        yield spent
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
        spent.seconds = time.process_time() - started
        spent.bytes = max(_most_memory() - before, 0)


def _over(_signal: int, _frame: FrameType | None) -> None:
    raise OvertimeError


def _begin_memory() -> int:
    """Reset the peak if the system supports that; return the bytes in use."""
    try:
        _CLEAR.write_text("5")
        return _from_status("VmRSS")
    except OSError:
        return _most_memory()


def _most_memory() -> int:
    try:
        return _from_status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _from_status(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0
