"""Whole commands, run and measured: wall and processor time, and the memory of all processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])


@dataclass
class Measured:
    """A command and what its runs cost: wall and processor seconds, and megabytes of all its processes."""

    name: str
    command: list[str]
    most: int = 255  # an exit status above this is a failure
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def run(self, folder: Path) -> None:
        """Run the command once in `folder` and note its cost. Needs a POSIX system; memory needs Linux."""
        with open(os.devnull, "w") as nowhere:
            start = time.perf_counter()
            process = subprocess.Popen(
                self.command,
                stdout=nowhere,
                stderr=nowhere,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": ROOT},
            )
            peak = _Peak(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall.append(time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)  # reaped above
        if not 0 <= process.returncode <= self.most:
            raise SystemExit(f"exit status {process.returncode}: {' '.join(self.command)}")
        self.processor.append(usage.ru_utime + usage.ru_stime)
        self.memory.append(max(peak.stop(), usage.ru_maxrss / 1024))

    @property
    def typical(self) -> float:
        """The median of the wall seconds."""
        return statistics.median(self.wall)


class _Peak(threading.Thread):
    """Samples the memory of a process and its children repeatedly; shared pages are counted once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._done = threading.Event()
        self._megabytes = 0.0
        self.start()

    def run(self) -> None:
        while not self._done.wait(0.05):
            self._megabytes = max(self._megabytes, sum(map(_proportional, _family(self._pid))))

    def stop(self) -> float:
        """Stop, and return the peak in megabytes; 0 if the system does not report memory."""
        self._done.set()
        self.join()
        return self._megabytes


def _family(pid: int) -> list[int]:
    found = [pid]
    for known in found:
        try:
            text = Path(f"/proc/{known}/task/{known}/children").read_text()
        except OSError:
            continue
        found += [int(child) for child in text.split()]
    return found


def _proportional(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except (OSError, ValueError):
        pass
    return 0.0
