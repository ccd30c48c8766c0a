"""Run the user's command once, with recorders."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from rlint.errors import RlintError
from rlint.prove.interruptions import Interruptions
from rlint.prove.record.import_hook import ENVIRONMENT

_START = '''"""Starts rlint's recorders in each Python that the recorded command starts."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
if os.environ.get("RLINT_PROVE"):
    try:
        import importlib.util

        if importlib.util.find_spec("rlint") is None:
            sys.path.append({root!r})
        from rlint.prove.record.import_hook import install
    except Exception as error:
        sys.stderr.write("rlint: nothing is recorded in this process: %s\\n" % error)
    else:
        install()
import importlib.machinery

_next = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(sys.modules["sitecustomize"])
'''
_PATIENCE = 8.0
_MOST_QUESTIONS = 2
"""Interrupts after which the program is killed."""


@dataclass(frozen=True)
class ProveLimits:
    """Limits of recording."""

    seconds: float | None = None
    """Seconds after which the command is ended, as Ctrl-C would."""
    keep: int = 512 * 2**20
    """Maximum bytes of all records."""

    @property
    def record(self) -> int:
        """Maximum bytes of one record."""
        return max(self.keep // 6, 2**20)


@dataclass
class RegionCounts:
    """The counts of a region in all processes."""

    calls: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)


@dataclass
class RecordedRun:
    """A run of the command, and its records."""

    command: tuple[str, ...]
    status: int
    seconds: float
    stopped: bool
    """It was ended by a limit, or by the user."""
    spent: float = 0.0
    """Seconds that recording took in the process that ran longest."""
    regions: dict[int, RegionCounts] = field(default_factory=dict)
    executables: set[str] = field(default_factory=set)
    key: bytes = b""

    @property
    def overhead(self) -> float:
        """The factor by which recording made the run longer, as far as it was counted."""
        calls = sum(one.calls for one in self.regions.values())
        took = self.spent + calls * _HOOK_COST
        return self.seconds / max(self.seconds - took, 1e-3)


_HOOK_COST = 1e-6
"""Seconds that the hooks of an unrecorded call take."""


def record(
    command: Sequence[str],
    files: Mapping[str, Mapping[str, Any]],
    folder: Path,
    roots: Sequence[str],
    limits: ProveLimits,
    interruptions: Interruptions,
) -> RecordedRun:
    """Run a command once, and record the calls of regions of some files into a private folder.

    Raises RlintError if it cannot be started.
    """
    key = secrets.token_bytes(32)
    start = folder / "start"
    start.mkdir()
    package = Path(sys.modules["rlint"].__file__ or "").parent
    (start / "sitecustomize.py").write_text(_START.format(root=str(package.parent)), encoding="utf-8")
    config = {
        "folder": str(folder),
        "key": key.hex(),
        "files": files,
        "roots": [root.rstrip(os.sep) + os.sep for root in roots],
        "keep": limits.keep,
        "record_limit": limits.record,
        "main_program": str(package / "prove" / "record" / "script_main.py"),
    }
    path = folder / "config.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(config), encoding="utf-8")
    environment = {**os.environ, ENVIRONMENT: str(path)}
    known = os.environ.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([str(start), *([known] if known else [])])
    started = time.perf_counter()
    sys.stdout.flush()
    sys.stderr.flush()
    early: list[int] = []
    with interruptions.taken_by(early.append):
        try:
            process = subprocess.Popen(list(command), env=environment)  # noqa: S603 - what the user asked for
        except OSError as error:
            raise RlintError(f"cannot start `{command[0]}`: {error.strerror or error}") from error
        status, stopped = _waited(process, limits.seconds, interruptions, early)
    run = RecordedRun(tuple(command), status, time.perf_counter() - started, stopped, key=key)
    _gather(run, folder)
    return run


def _waited(
    process: subprocess.Popen[bytes], seconds: float | None, interruptions: Interruptions, early: list[int]
) -> tuple[int, bool]:
    """Wait for the end; after a time limit, request the process to end, and then kill it.

    An interrupt from a terminal reaches the program by itself; a further one, and a termination request, is
    passed on to all of its processes.
    """
    ended = threading.Event()
    stopped = threading.Event()
    started: dict[int, psutil.Process] = {}
    requested: list[int] = []

    def request_all() -> None:
        with contextlib.suppress(psutil.Error):
            for one in psutil.Process(process.pid).children(recursive=True):
                started[one.pid] = one
        process.terminate()
        for one in started.values():
            with contextlib.suppress(psutil.Error):
                one.terminate()

    def end() -> None:
        stopped.set()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        if ended.wait(_PATIENCE):
            return
        request_all()
        if not ended.wait(_PATIENCE):
            process.kill()

    def take(number: int) -> None:
        stopped.set()
        requested.append(number)
        if len(requested) > _MOST_QUESTIONS:
            process.kill()
        elif number != signal.SIGINT or len(requested) > 1:
            request_all()

    timer = threading.Timer(seconds or 0, end)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        with interruptions.taken_by(take):
            for number in early:  # the signal came while the process was started
                take(number)
            status = process.wait()
    finally:
        ended.set()
        timer.cancel()
        if process.poll() is None:  # no caller waits for it any more
            process.kill()
        _end_rest(started.values())
    return (128 - status if status < 0 else status), stopped.is_set()


def _end_rest(started: Iterable[psutil.Process]) -> None:
    """End the processes that a program has left behind when it was requested to end."""
    _, alive = psutil.wait_procs(list(started), timeout=_PATIENCE)
    for one in alive:
        with contextlib.suppress(psutil.Error):
            one.kill()


def _gather(run: RecordedRun, folder: Path) -> None:
    """Combine the counts and records of the processes."""
    longest = 0.0
    for path in sorted(folder.glob("stats-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        run.executables.add(found["executable"])
        if found["seconds"] > longest:
            longest, run.spent = found["seconds"], found["spent"]
        for number, counted in found["regions"].items():
            counts = run.regions.setdefault(int(number), RegionCounts())
            counts.calls += counted["calls"]
            counts.seconds += counted["seconds"] or counted["running"]
            counts.longest = max(counts.longest, counted["longest"], counted["running"])
            for reason, count in counted["failures"].items():
                counts.failures[reason] = counts.failures.get(reason, 0) + count
    for path in sorted(folder.glob("record-*.rec")):
        number = int(path.name.split("-")[1])
        run.regions.setdefault(number, RegionCounts()).records.append(str(path))
