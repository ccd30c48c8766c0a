"""Jobs passed to the guard of this process, which is started with the first of them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

_START = "import sys; sys.path[:] = {path!r}; from rlint.survey.guard import main; main()"
"""Imports as this process does, and nothing from the working folder."""


class GuardClient:
    """A running guard."""

    def __init__(self) -> None:
        path = [entry for entry in sys.path if entry and entry != os.getcwd()]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
            [sys.executable, "-c", _START.format(path=path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run a job. Raises OSError where the guard itself has gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise BrokenPipeError("the process that starts checks has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Close the guard, and with it the process of its job."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
            return
        self.kill()

    def kill(self) -> None:
        """Kill the guard at once."""
        self._process.kill()
        self._process.wait()


@functools.cache
def guard() -> GuardClient:
    """Return the guard of this process."""
    client = GuardClient()
    atexit.register(client.close)
    return client


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job by the guard of this process; by a new one, if that has been killed."""
    try:
        return guard().run(job)
    except (BrokenPipeError, ConnectionResetError):
        restart()
        return guard().run(job)


def restart() -> None:
    """Close the guard: the next job starts another."""
    if guard.cache_info().currsize:
        client = guard()
        guard.cache_clear()
        atexit.unregister(client.close)
        client.close()
