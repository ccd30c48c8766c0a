"""How long `rlint check` takes beside other LibCST linters, measured in one run on the same files.

    python tests/benchmarks/compare_linters.py FOLDER [FOLDER ...] [--rounds N] [--peers BIN]

Give it the unpacked sources of real projects (stable-baselines3 and cleanrl are what the targets are stated
for). `torchfix` and `fixit` must be installed: in this environment, or in another one whose `bin` folder
`--peers` names. Commands run in turn, round by round, so that all see the same machine; the medians are
compared. Memory is the largest single process of a command. Needs a POSIX system.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TARGET_RATIO = 6
TARGET_MEMORY = 250


@dataclass
class Measured:
    """A command and what its runs cost: wall and processor seconds, and megabytes of its largest process."""

    name: str
    command: list[str]
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def run(self, folder: str) -> None:
        """Run the command once in `folder` and note its cost."""
        with open(os.devnull, "w") as nowhere:
            start = time.perf_counter()
            process = subprocess.Popen(self.command, stdout=nowhere, stderr=nowhere, cwd=folder)
            _, _, usage = os.wait4(process.pid, 0)
            self.wall.append(time.perf_counter() - start)
        process.returncode = 0  # reaped above
        self.processor.append(usage.ru_utime + usage.ru_stime)
        self.memory.append(usage.ru_maxrss / 1024)


def commands(folders: list[str], peers: str | None) -> list[Measured]:
    """The commands to compare; peers that are not installed are left out with a word."""
    found = [
        Measured("rlint", [sys.executable, "-m", "rlint", "check", "--isolated", "--no-cache", *folders])
    ]
    for name, options in (("torchfix", ["--select", "ALL"]), ("fixit", ["lint"])):
        program = shutil.which(name, path=peers) if peers else shutil.which(name)
        if program is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        found.append(Measured(name, [program, *options, *folders]))
    return found


def main() -> int:
    """Measure, print the table, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers")
    arguments = parser.parse_args()
    folders = [os.path.abspath(folder) for folder in arguments.folders]
    files = [path for folder in folders for path in Path(folder).rglob("*.py")]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{len(files)} files, {lines} lines, {os.cpu_count()} cores, {arguments.rounds} rounds\n")
    measured = commands(folders, arguments.peers)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for command in measured:
                command.run(folder)
    own = measured[0]
    print(f"{'':10}{'wall s':>9}{'cpu s':>9}{'MB':>7}{'wall ratio':>12}{'cpu ratio':>11}")
    missed = statistics.median(own.memory) > TARGET_MEMORY
    for command in measured:
        wall, processor = statistics.median(command.wall), statistics.median(command.processor)
        ratio = statistics.median(other / ours for other, ours in zip(command.wall, own.wall, strict=True))
        processor_ratio = processor / statistics.median(own.processor)
        memory = max(command.memory)
        print(
            f"{command.name:10}{wall:9.2f}{processor:9.2f}{memory:7.0f}{ratio:11.1f}x{processor_ratio:10.1f}x"
        )
        missed = missed or (command is not own and ratio < TARGET_RATIO)
    print(
        f"\ntargets: {TARGET_RATIO} times faster than each, under {TARGET_MEMORY} MB a process: "
        f"{'missed' if missed else 'met'}"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
