"""Runs of a program under a profiler."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rlint.errors import RlintError
from rlint.profiles.launch import Program, program_of
from rlint.source.atomic_write import replace_file

CPROFILE, PYSPY = "cprofile", "py-spy"
DEFAULT_FILES = {CPROFILE: "rlint.pstats", PYSPY: "rlint.speedscope.json"}


@dataclass(frozen=True, slots=True)
class RecordingLimits:
    """Limits after which a run is ended."""

    steps: int | None = None
    step: str = "step"
    """The function whose calls are counted, by name, or as `file:name`."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of a recorded run."""

    status: int
    """Exit status of the program; 0 if a limit ended it."""
    stopped: bool
    """Whether a limit ended it."""
    seconds: float
    written: bool
    """Whether there is a profile."""


def record(
    command: Sequence[str],
    output: Path,
    *,
    profiler: str = CPROFILE,
    limits: RecordingLimits = RecordingLimits(),
    rate: int = 100,
) -> Recorded:
    """Run a command under a profiler, with its own input, output and status; the profile is written to
    `output`.

    `rate` is how often py-spy looks, per second. Raises RlintError if the program cannot be started in this
    way.
    """
    program = program_of(command)
    if profiler == PYSPY and limits.steps is not None:
        raise RlintError(
            "py-spy counts no calls; limit its run with `--seconds`, or use `--profiler cprofile`"
        )
    _check_writable(output)
    with tempfile.TemporaryDirectory(prefix="rlint-profile-") as folder:
        result = Path(folder) / "result.json"
        samples = Path(folder) / "samples.json"
        options = {
            "profile": str(output.absolute()) if profiler == CPROFILE else None,
            "result": str(result),
            "steps": limits.steps,
            "step": limits.step,
            "seconds": limits.seconds,
        }
        before = _stamp(output)
        started = time.monotonic()
        if profiler == PYSPY:
            code = _run_sampled(program, options, _py_spy(samples, rate), result)
        else:
            code = _run([*program.launcher, *program.started(json.dumps(options))], result)
        seconds = time.monotonic() - started
        status, stopped = _result(result, code, profiler)
        if samples.is_file() and samples.stat().st_size:
            replace_file(output, samples.read_bytes())
        return Recorded(status, stopped, seconds, _stamp(output) != before)


def _py_spy(samples: Path, rate: int) -> list[str]:
    adjacent = Path(sys.executable).with_name("py-spy.exe" if os.name == "nt" else "py-spy")
    found = shutil.which("py-spy") or (str(adjacent) if adjacent.is_file() else None)
    if found is None:
        raise RlintError("py-spy is not installed; run `pip install py-spy`")
    options = ["--format", "speedscope", "--subprocesses", "--full-filenames", "--rate", str(rate)]
    return [found, "record", *options, "--output", str(samples), "--"]


def _check_writable(output: Path) -> None:
    """Check before the run, which may take hours, whether its profile can be written."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_dir():
            raise RlintError(f"{output}: cannot write the profile: it is a folder")
        if not os.access(output if output.exists() else output.parent, os.W_OK):
            raise RlintError(f"{output}: cannot write the profile: permission denied")
    except OSError as error:
        raise RlintError(f"{output}: cannot write the profile: {error.strerror or error}") from error


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _run_sampled(program: Program, options: Mapping[str, object], sampler: list[str], result: Path) -> int:
    """Run a program under py-spy without py-spy's output: standard output belongs to the program only."""
    if os.name == "nt":
        return _run([*program.launcher, *sampler, *program.started(json.dumps(options))], result)
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") as output:
        handed = output.fileno()
        words = program.started(json.dumps({**options, "stdout": handed}))
        return _run([*program.launcher, *sampler, *words], result, output=handed)


def _run(words: Sequence[str], result: Path, *, output: int | None = None) -> int:
    """Run a command to its end. With `output`, it inherits that file instead of standard output."""
    try:
        process = subprocess.Popen(  # noqa: S603 - to run this is what the user asked for
            words,
            stdout=None if output is None else subprocess.DEVNULL,
            pass_fds=() if output is None else (output,),
        )
    except OSError as error:
        raise RlintError(f"cannot start `{words[0]}`: {error.strerror or error}") from error
    with _forward_signals_to(process, result):
        return process.wait()


@contextmanager
def _forward_signals_to(process: subprocess.Popen[bytes], result: Path) -> Iterator[None]:
    """Pass signals to the program: Ctrl-C reaches it by itself, and a termination request is passed on."""

    def hand_on(_number: int, _frame: FrameType | None) -> None:
        with suppress(OSError, ValueError):
            os.kill(int(Path(f"{result}.pid").read_text(encoding="ascii")), signal.SIGTERM)
            return
        process.terminate()

    def leave(_number: int, _frame: FrameType | None) -> None:
        """Do nothing: a handler, as an ignored signal would be inherited by the program."""

    old = {}
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        old[signal.SIGINT] = signal.signal(signal.SIGINT, leave)
    old[signal.SIGTERM] = signal.signal(signal.SIGTERM, hand_on)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _result(path: Path, code: int, profiler: str) -> tuple[int, bool]:
    """Return the status of the program, and whether a limit ended it. Without a result, it was killed, or
    exited without cleanup; the status of a sampler then says nothing about the program.
    """
    try:
        found = json.loads(path.read_bytes())
        return int(found["status"]), bool(found["stopped"])
    except (OSError, ValueError):
        if code < 0:
            return 128 - code, False
        return (code or 1) if profiler == PYSPY else code, False
