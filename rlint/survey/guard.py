"""The program between a Ray worker and untrusted code: it starts a process for each job, and ends processes
that take too long or too much memory. It ends with the worker, and its process with it.

It imports what a check needs once; the processes are forks of it and start at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from rlint.harness.processes.resident_memory import resident_bytes

_LOOK = 0.05  # seconds between two checks of a process
_SLACK = 2 * 2**30
"""Bytes of address space above the memory limit: a large allocation is refused at once."""
_LONGEST_LINE = 1_000_000
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Read jobs from standard input, a line of JSON each, and answer each with a line."""
    given, answers = os.dup(0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    from rlint.survey.warm_up import get_ready

    get_ready()
    guard = JobGuard(given)
    while (line := guard.line()) is not None:
        answers.write(json.dumps(guard.run(json.loads(line))).encode() + b"\n")
        answers.flush()


class JobGuard:
    """Runs one job after the other, each in a process of its own."""

    def __init__(self, given: int) -> None:
        self._given = given
        self._buffer = b""

    def line(self) -> bytes | None:
        """Return the next line of the worker; None once it has ended."""
        while b"\n" not in self._buffer:
            captured = os.read(self._given, 65_536)
            if not captured or len(self._buffer) > _LONGEST_LINE:
                return None
            self._buffer += captured
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run a job, and return how its process ended: "" for success."""
        process = os.fork()
        if process == 0:
            _work(job)
        started = time.monotonic()
        ended = self._watch(process, job["time_limit"], job["memory_limit"])
        return {"ended": ended, "seconds": time.monotonic() - started}

    def _watch(self, process: int, seconds: float, memory: int) -> str:
        end = time.monotonic() + seconds
        look = 0.001
        with contextlib.suppress(psutil.NoSuchProcess):
            known = psutil.Process(process)
            while True:
                done, status = os.waitpid(process, os.WNOHANG)
                if done:
                    return _how(status)
                if time.monotonic() > end:
                    reason = f"took more than {seconds:g} s"
                    break
                held = resident_bytes(known) if look >= _LOOK else 0
                if held > memory:
                    reason = f"used more than {memory / 2**20:.0f} MB of memory"
                    break
                if select.select([self._given], [], [], look)[0] and not self._receives():
                    _kill(process)
                    os._exit(1)  # the worker has ended
                look = min(look * 1.5, _LOOK)
            _kill(process)
            return reason
        return _how(os.waitpid(process, 0)[1])

    def _receives(self) -> bool:
        """Whether the worker is still alive, after data from it arrived."""
        captured = os.read(self._given, 65_536)
        self._buffer += captured
        return bool(captured)


def _work(job: Mapping[str, Any]) -> None:
    """Run a job in the new process, and end it in any case."""
    status = 1
    try:
        os.setsid()
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            most = job["memory_limit"] + _SLACK
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from rlint.survey.checked_part import do

        do(job, Path(job["folder"]))
        status = 0
    except MemoryError:
        status = _OUT_OF_MEMORY
    except BaseException:  # noqa: BLE001 - shown by the process that reads the folder
        import traceback

        with contextlib.suppress(OSError):
            Path(job["folder"], "crash").write_text(traceback.format_exc(limit=-3), encoding="utf-8")
    finally:
        os._exit(status)


_OUT_OF_MEMORY = 9


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            return "was killed, probably because it used too much memory"
        return f"crashed with {signal.Signals(number).name}"
    if os.WEXITSTATUS(status) == _OUT_OF_MEMORY:
        return "ran out of memory"
    return "failed" if os.WEXITSTATUS(status) else ""


def _kill(process: int) -> None:
    """Kill a process with all of its descendants."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
