"""Try inputs: failing ones are reduced and stored; mutations depend on the kind of input."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from inputs import KINDS, programs, run
from limits import MOST_BYTES, OvertimeError, Spent, watched
from mutators import PythonMutator, changed_bytes, changed_json
from promises import Failure, failure_of
from rlint.trial.ddmin import ddmin

_MINIMISE_SECONDS = 30.0


def memory_folder() -> str | None:
    """A folder in memory, if there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - files in it have unique names


class Fuzzer:
    """Runs rlint on inputs, and stores those that fail."""

    def __init__(self, failures: Path, *, minutes: float) -> None:
        self._failures = failures
        self._until = time.process_time() + minutes * 60
        self._known: set[str] = set()
        self._folder = Path(tempfile.mkdtemp(prefix="rlint-fuzz-", dir=memory_folder()))
        self._started = time.monotonic()
        self._reported = self._started
        self.executions = 0
        self.spent = Spent()
        """The maximum cost of an input: seconds, and bytes."""

    def try_input(self, data: bytes) -> None:
        """Try one input. Ends the process once its time is up: it is processor time, of which a busy machine
        gives little to a process with low priority.
        """
        self.executions += 1
        spent = Spent()
        for failure in tried(data, self._folder, spent):
            if failure.key not in self._known:
                self._known.add(failure.key)
                self._keep(data, failure.key)
        self.spent = Spent(max(self.spent.seconds, spent.seconds), max(self.spent.bytes, spent.bytes))
        is_over = time.process_time() > self._until
        if is_over or time.monotonic() - self._reported > 60:
            self._reported = time.monotonic()
            print(
                f"{(self._reported - self._started) / 60:.0f} min, {time.process_time() / 60:.1f} of them of "
                f"the processor: {self.executions} inputs, {len(self._known)} causes of failure, at most "
                f"{self.spent.seconds:.1f} s and {self.spent.bytes / 1e6:.0f} MB for one",
                flush=True,
            )
        if is_over:
            shutil.rmtree(self._folder)
            os._exit(0)

    def _keep(self, data: bytes, key: str) -> None:
        least = minimised(data, key, self._folder)
        [what] = [one.detail for one in tried(least, self._folder) if one.key == key][:1] or [
            "does not fail again"
        ]
        name = hashlib.sha256(key.encode()).hexdigest()[:12]
        (self._failures / f"{name}.input").write_bytes(least)
        (self._failures / f"{name}.txt").write_text(f"{key}\n\n{what}\n", encoding="utf-8", errors="replace")
        print(f"FAILURE {name} {key}", flush=True)


def tried(data: bytes, folder: Path, took: Spent | None = None) -> list[Failure]:
    """The failures of one input, time and memory included. `took` receives its cost."""
    failures: list[Failure] = []
    spent = Spent()
    try:
        with watched() as spent:
            failures = run(data, folder)
    except OvertimeError as error:
        failures = [failure_of("time", error)]
    except MemoryError as error:
        failures = [failure_of("memory", error)]
    if took is not None:
        took.seconds, took.bytes = spent.seconds, spent.bytes
    if spent.bytes > MOST_BYTES:
        failures.append(Failure("memory", "", f"{spent.bytes / 1e6:.0f} MB"))
    return failures


def minimised(data: bytes, key: str, folder: Path) -> bytes:
    """The lines without which an input does not fail, reduced for at most half a minute."""
    head, _, body = data.partition(b"\n")
    until = time.monotonic() + _MINIMISE_SECONDS

    lines = body.splitlines(keepends=True)

    def rest(numbers: Sequence[int]) -> bytes:
        return head + b"\n" + b"".join(lines[number] for number in numbers)

    def fails(numbers: Sequence[int]) -> bool:
        return time.monotonic() < until and any(one.key == key for one in tried(rest(numbers), folder))

    return rest(ddmin(range(len(lines)), fails))


class Mutator:
    """Mutates an input according to its kind; occasionally, in any way."""

    def __init__(self) -> None:
        self._python = PythonMutator(list(programs()))

    def mutated(self, data: bytes, most: int, seed: int) -> bytes:
        """Another input of the same kind."""
        rng = random.Random(seed)
        head, _, body = data.partition(b"\n")
        kind = KINDS.get(head.decode("ascii", "replace"))
        if kind is None:
            return b"python\n" + data[:most]
        way = rng.random()
        if way < 0.08 or not (kind.is_python or kind.is_json):
            body = changed_bytes(body, rng)
        elif kind.is_python:
            body = self._python.changed(body.decode("utf-8", "replace"), rng).encode("utf-8", "replace")
        elif head == b"notebook" and way < 0.6:
            body = self._in_a_cell(body.decode("utf-8", "replace"), rng).encode("utf-8", "replace")
        else:
            body = changed_json(body.decode("utf-8", "replace"), rng).encode("utf-8", "replace")
        return (head + b"\n" + body)[:most]

    def _in_a_cell(self, text: str, rng: random.Random) -> str:
        """The code of one cell, mutated like a program."""
        try:
            data = json.loads(text)
            cell = rng.choice([cell for cell in data["cells"] if cell["cell_type"] == "code"])
            cell["source"] = self._python.changed("".join(cell["source"]), rng)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            return changed_json(text, rng)
        return json.dumps(data, indent=1)
