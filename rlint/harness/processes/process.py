"""Run one job in a separate process, enforce its limits, and clean up after it."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

import psutil

from rlint.harness.processes.resident_memory import resident_bytes
from rlint.harness.processes.start import ForkStart, Started, fresh

if TYPE_CHECKING:
    from rlint.evidence.results import Machine

_POLL = 0.1  # seconds between two checks of the process
_TAIL = 2_000  # characters of standard error quoted in the report of a crash


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of a process."""

    silence: float
    """Seconds without a message."""
    memory: int
    """Resident bytes of the process and its descendants."""


class JobRunner(Protocol):
    """Runs jobs in separate processes, here or on other machines."""

    slots: Mapping[str, int]
    """Number of jobs for a kind of device that run at once, and number of machines ("nodes")."""

    def run(
        self,
        job: object,
        limits: ProcessLimits,
        on_message: Callable[[Any], None],
        *,
        threads: int,
        hash_seed: int = 0,
        stop: threading.Event | None = None,
        start: ForkStart = fresh,
    ) -> None:
        """Run a job as `run` does."""

    def describe(self, accelerator: str) -> Machine:
        """Describe a machine that jobs run on."""


class EndedError(Exception):
    """The process did not end normally. The message says how, as a clause."""


class StoppedError(Exception):
    """The user requested all work to stop."""


def run(
    job: object,
    limits: ProcessLimits,
    on_message: Callable[[Any], None],
    *,
    threads: int,
    hash_seed: int = 0,
    stop: threading.Event | None = None,
    start: ForkStart = fresh,
) -> None:
    """Run `job` in a separate process, and pass on its messages.

    Raises EndedError if it crashes, hangs or takes too much memory, StoppedError once `stop` is set.
    """
    with tempfile.TemporaryFile() as errors:
        child = start(errors, threads=threads, hash_seed=hash_seed)
        assert child.stdin is not None
        assert child.stdout is not None
        life = _Life(child.stdout, on_message)
        try:
            with contextlib.suppress(BrokenPipeError):
                pickle.dump(job, child.stdin)
                child.stdin.flush()  # and stays open: its end tells the process to exit
            _watch(child, life, limits, stop)
        finally:
            _end(child)
            life.thread.join(timeout=5)
            with contextlib.suppress(OSError):
                child.stdin.close()
            child.stdout.close()
        if life.failure is not None:
            raise life.failure
        if not life.finished:
            raise EndedError(_cause(child.wait(), errors))


class OnThisMachine:
    """Runs jobs here."""

    def __init__(self) -> None:
        count = os.cpu_count() or 1
        self.slots: Mapping[str, int] = {"cpu": count, "nodes": 1}
        self.run = run

    def describe(self, accelerator: str) -> Machine:
        """Describe this machine."""
        from rlint.harness.machine import describe_machine

        return describe_machine(accelerator)


class _Life:
    """Reads the messages of a process, in a thread, and knows the time of the last one."""

    def __init__(self, stream: IO[bytes], on_message: Callable[[Any], None]) -> None:
        self.last = time.monotonic()
        self.finished = False
        self.failure: BaseException | None = None
        self._stream = stream
        self._on_message = on_message
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            for message in _messages(self._stream):
                self.last = time.monotonic()
                if message is None:
                    self.finished = True
                    return
                self._on_message(message)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self.failure = error


def _messages(stream: IO[bytes]) -> Iterator[Any]:
    with contextlib.suppress(EOFError, pickle.UnpicklingError, ValueError, OSError):
        while True:
            # From a process of our own, which runs code that was requested.
            yield pickle.load(stream)  # noqa: S301


def _watch(child: Started, life: _Life, limits: ProcessLimits, stop: threading.Event | None) -> None:
    process = None
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(child.pid)
    while life.thread.is_alive():
        if stop is not None and stop.is_set():
            raise StoppedError
        if time.monotonic() - life.last > limits.silence:
            raise EndedError(f"hung: no activity for {limits.silence:g} s; it was killed")
        held = resident_bytes(process) if process is not None else 0
        if held > limits.memory:
            raise EndedError(
                f"used {_gigabytes(held)} of memory, of {_gigabytes(limits.memory)} allowed; it was killed"
            )
        life.thread.join(timeout=_POLL)
        if child.poll() is not None:
            # Its children may keep the channel open; its own messages arrive within this time.
            life.thread.join(timeout=1)
            return
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=2)  # it ends by itself, so that its status says how


def _end(child: Started) -> None:
    """Kill a process and all of its descendants."""
    descendants = []
    with contextlib.suppress(psutil.Error):
        descendants = psutil.Process(child.pid).children(recursive=True)
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    if child.poll() is None:
        child.kill()
    for one in descendants:
        with contextlib.suppress(psutil.Error):
            one.kill()
    child.wait()


def _cause(status: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    text = errors.read().decode("utf-8", "replace").strip()[-_TAIL:]
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        what = f"crashed with {name}"
    else:
        what = f"exited with status {status} before it finished"
    return what + (f":\n{text}" if text else "")


def _gigabytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
