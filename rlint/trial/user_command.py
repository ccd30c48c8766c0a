"""The user's command as a separate process: with a time limit, and ended with all of its descendants."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rlint.errors import RlintError

_KEPT_BYTES = 64_000
_GATE = "" if sys.platform == "win32" else "read -r _ || exit 125\nexec </dev/null\n"
"""The shell waits for a line before it runs the command: if rlint is killed before it has registered the
process, the line never comes, and nothing is left running.
"""
_GRACE = 2.0  # seconds that a command has to end by itself after a request


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a run of the command."""

    exit_code: int
    """Negative: the signal that ended it."""
    seconds: float
    timed_out: bool
    output: str
    """The end of its output, both streams in order."""

    @property
    def passed(self) -> bool:
        """Whether it ended by itself, with success."""
        return self.exit_code == 0 and not self.timed_out

    def tail(self, lines: int) -> list[str]:
        """Return the last lines of its output."""
        return [line.rstrip() for line in self.output.rstrip().splitlines()[-lines:]]

    @property
    def ending(self) -> str:
        """Return how the command ended, as text."""
        if self.timed_out:
            return f"did not end within {self.seconds:.0f} s"
        if self.exit_code < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-self.exit_code).name}"
        return f"exit code {self.exit_code}"


def run_command(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    *,
    timeout: float | None,
    started: Callable[[int], None],
) -> Ran:
    """Run a shell command in `folder`, for at most `timeout` seconds; `started` is called with its process.

    All of its descendants end with it, even on an interrupt. Raises RlintError if there is no shell.
    """
    begun = time.perf_counter()
    try:
        process = subprocess.Popen(  # noqa: S602 - the user's own command line, as a shell takes it
            _GATE + command,
            shell=True,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE if _GATE else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise RlintError(f"cannot start `{command}`: {error.strerror or error}") from error
    assert process.stdout is not None
    tail: deque[bytes] = deque()
    with _reading(process.stdout, tail), _ended(process):
        started(process.pid)
        _open_gate(process)
        with _limited(process, timeout) as expired:
            _wait(process)
    seconds = time.perf_counter() - begun
    text = b"".join(tail)[-_KEPT_BYTES:].decode("utf-8", "replace")
    return Ran(process.wait(), seconds, expired.is_set(), text)


def _open_gate(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"\n")
            process.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end, without a time limit, which would be checked only every 50 ms."""
    if hasattr(os, "waitid"):
        # not reaped yet, so that the number of its process group cannot be reused
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


@contextmanager
def _limited(process: subprocess.Popen[bytes], timeout: float | None) -> Iterator[threading.Event]:
    expired, ended = threading.Event(), threading.Event()

    def end() -> None:
        expired.set()
        _signal(process.pid, signal.SIGTERM)  # so that it can clean up
        if not ended.wait(_GRACE):
            kill_group(process.pid)

    timer = threading.Timer(timeout or 0, end)
    timer.daemon = True
    if timeout is not None:
        timer.start()
    try:
        yield expired
    finally:
        ended.set()
        timer.cancel()
        if timeout is not None:
            timer.join()


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    except BaseException:  # interrupted
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        raise
    finally:
        kill_group(process.pid)  # processes that it left running
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def kill_group(leader: int) -> None:
    """Kill a command with all of its descendants that did not leave its process group."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)  # noqa: S603, S607
    else:
        _signal(leader, signal.SIGKILL)


def _signal(leader: int, number: signal.Signals) -> None:
    if sys.platform == "win32":
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


@contextmanager
def _reading(stream: IO[bytes], tail: deque[bytes]) -> Iterator[None]:
    """Read a stream concurrently, so that its writer never blocks; keep the end of it."""

    def read() -> None:
        size = 0
        with contextlib.suppress(ValueError, OSError):
            while piece := os.read(stream.fileno(), 65_536):
                tail.append(piece)
                size += len(piece)
                while size - len(tail[0]) >= _KEPT_BYTES:
                    size -= len(tail.popleft())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield
    finally:
        # A process that left the group may keep the stream open: it is not waited for.
        thread.join(1.0)
        if not thread.is_alive():
            stream.close()
