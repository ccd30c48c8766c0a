"""Compare programs in separate processes, forked from one that has loaded torch, and report through a pipe.

Run as a program; `Comparer` is the other end.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from properties.jobs import Job, Outcome

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 200.0
"""Time limit for all runs of one program."""
_LENGTH = struct.Struct("!Q")


class Comparer:
    """Passes programs to a server, which is started for the first one."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def compare(self, job: Job, seconds: float = SECONDS) -> Outcome:
        """Run a program before and after its fixes, and return the differences."""
        server = self._started()
        assert server.stdin is not None
        assert server.stdout is not None
        _write(server.stdin, pickle.dumps((job, seconds)))
        return pickle.loads(_read(server.stdout))  # noqa: S301 - from our own process

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.communicate()
            self._server = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._server is None:
            paths = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
            single = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            initial_settings = {**os.environ, **single, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
            self._server = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "properties.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=initial_settings,
            )
        return self._server


def serve(jobs: BinaryIO, outcomes: BinaryIO) -> None:
    """Compare programs until no more come."""
    from properties.observing import Nursery

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when its input is closed
    nursery = Nursery()
    while True:
        try:
            job, seconds = pickle.loads(_read(jobs))  # noqa: S301 - from our own process
        except EOFError:
            return
        _write(outcomes, _in_child(nursery.bench_for(job), job, seconds))


def _in_child(bench: Any, job: Job, seconds: float) -> bytes:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setsid()  # its child processes end with it
        try:
            outcome = bench.compare(job)
        except BaseException as error:  # noqa: BLE001 - told to the other end
            outcome = Outcome(error=f"{type(error).__name__}: {error}")
        try:
            with os.fdopen(writing, "wb") as file:
                file.write(pickle.dumps(outcome))
        finally:
            os._exit(0)  # there is one server
    os.close(writing)
    found, until = b"", time.monotonic() + seconds
    with os.fdopen(reading, "rb", buffering=0) as file:
        while (left := until - time.monotonic()) > 0 and select.select([file], [], [], left)[0]:
            part = file.read(1 << 16)
            if not part:
                break
            found += part
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        pickle.loads(found)  # noqa: S301 - from our own process
    except (EOFError, pickle.UnpicklingError):
        return pickle.dumps(Outcome(error="took too long" if time.monotonic() >= until else "died"))
    return found


def _write(file: Any, data: bytes) -> None:
    file.write(_LENGTH.pack(len(data)) + data)
    file.flush()


def _read(file: Any) -> bytes:
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return bytes(file.read(_LENGTH.unpack(head)[0]))


if __name__ == "__main__":
    quiet = os.open(os.devnull, os.O_RDWR)
    with os.fdopen(os.dup(0), "rb") as own_input, os.fdopen(os.dup(1), "wb") as own_output:
        os.dup2(quiet, 0)  # programs read and print elsewhere
        os.dup2(quiet, 1)
        serve(own_input, own_output)
