"""Run a program in a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from patience import PATIENCE


class Terminal:
    """A running program and its output so far."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.shown = ""

    def read_until(self, text: str) -> str:
        """Wait for a text; return the output since the last call."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if not self._read():
                break
        assert text in self.shown, self.shown
        seen, self.shown = self.shown, ""
        return seen

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._descriptor, keys.encode())

    def end(self) -> tuple[int, str]:
        """Wait for the program's end; return its status and the rest of what it has shown."""
        while self._read():
            pass
        return self.process.wait(PATIENCE), self.shown

    def _read(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # on Linux, this error means that the other end is closed
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


@contextlib.contextmanager
def in_terminal(
    command: list[str], folder: Path, environment: Mapping[str, str], *, stdout: int | None = None
) -> Iterator[Terminal]:
    """Start a program in a terminal; with `stdout`, only its standard error and input are there."""
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals")
    import pty

    ours, counterpart = pty.openpty()

    def prepare() -> None:
        os.setsid()
        import fcntl
        import termios

        fcntl.ioctl(counterpart, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # background jobs of a shell ignore it

    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=counterpart,
        stdout=counterpart if stdout is None else stdout,
        stderr=counterpart,
        preexec_fn=prepare,  # noqa: PLW1509 - a terminal is taken by the process itself; no threads here
    )
    os.close(counterpart)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
