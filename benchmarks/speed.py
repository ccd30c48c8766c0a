"""Time `rlint check`: compared with other linters, on a second run, after a change, on unrelated code, on
more code.

    python benchmarks/speed.py FOLDER [FOLDER ...] [--peers BIN] [--other FOLDER] [--corpus FOLDER]
                               [--plot FILE] [--rounds N]

`FOLDER`s are unpacked sources of real projects (the targets are stated for stable-baselines3 and cleanrl).
`--peers` names the `bin` folder of an environment with torchfix, fixit, flake8, pylint and perflint; missing
ones are left out. `--other` is code unrelated to machine learning, such as a web framework; `--corpus`
holds many projects, of which increasingly large parts are checked. Commands run in turn, round by round, so
that all see the same machine, and medians are compared. Memory is that of all processes together.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import sys
import tempfile
from pathlib import Path

from commands import ROOT, Measured
from growth import Growth

CHECK = [sys.executable, "-m", "rlint", "check", "--isolated"]
TARGETS = {"torchfix": 15.0, "fixit": 15.0, "pylint": 4.0}
"""A cold run should be faster than these by the given factors."""


def peers(folders: list[str], where: str | None) -> list[Measured]:
    """The commands of other linters; those that are not installed are left out with a message."""
    found = []
    for name, options in (
        ("ruff", ["check", "--isolated", "--no-cache", "--select", "ALL"]),
        ("pylint", ["--load-plugins=perflint", "-j", str(os.cpu_count() or 1)]),
        ("flake8", ["--select", "TOR"]),
        ("torchfix", ["--select", "ALL"]),
        ("fixit", ["lint"]),
    ):
        program = (shutil.which(name, path=where) if where else None) or shutil.which(name)
        if program is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        found.append(Measured(name, [program, *options, *folders]))
    return found


def size_of(folders: list[str]) -> tuple[int, int]:
    """The number of files and lines of Python in folders."""
    files = [path for folder in folders for path in Path(folder).rglob("*.py") if path.is_file()]
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def compile_own_modules() -> None:
    """Compile the modules of this checkout, as pip does for an installed package: otherwise, each run would
    compile them again if `PYTHONDONTWRITEBYTECODE` is set.
    """
    for part in ("rlint", "rules"):
        compileall.compile_dir(Path(ROOT) / part, quiet=1)


def compare(folders: list[str], where: str | None, rounds: int, scratch: Path) -> Measured:
    """Print the cost of the runs of all linters; return that of a cold run of rlint."""
    copies = [str(shutil.copytree(folder, scratch / Path(folder).name)) for folder in folders]
    changed = max(
        (path for copy in copies for path in Path(copy).rglob("*.py")), key=lambda p: p.stat().st_size
    )
    keep = ["--cache-dir", str(scratch / "cache"), *copies]
    cold = Measured("rlint, cold", [*CHECK, "--no-cache", *copies], 1)
    fill = Measured("", [*CHECK, *keep], 1)
    warm = Measured("rlint, warm", [*CHECK, *keep], 1)
    one = Measured("rlint, one file changed", [*CHECK, *keep], 1)
    alone = Measured("rlint, one file alone", [*CHECK, "--no-cache", str(changed)], 1)
    others = peers(copies, where)
    for number in range(rounds):
        cold.run(scratch)
        fill.run(scratch)
        warm.run(scratch)
        with open(changed, "a", encoding="utf-8") as file:
            file.write(f"\nCHANGED_{number} = {number}\n")
        one.run(scratch)
        alone.run(scratch)
        for other in others:
            other.run(scratch)
    print(f"{'':26}{'wall s':>9}{'cpu s':>9}{'MB':>7}{'of rlint, cold':>16}{'target':>9}")
    for command in (cold, warm, one, alone, *others):
        processor = sorted(command.processor)[len(command.processor) // 2]
        ratio = f"{command.typical / cold.typical:.2f}x"
        target = f"{TARGETS[command.name]:.0f}x" if command.name in TARGETS else ""
        print(
            f"{command.name:26}{command.typical:9.2f}{processor:9.2f}{max(command.memory):7.0f}"
            f"{ratio:>16}{target:>9}"
        )
    return cold


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers")
    parser.add_argument("--other")
    parser.add_argument("--corpus")
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    folders = [os.path.abspath(folder) for folder in arguments.folders]
    compile_own_modules()
    files, lines = size_of(folders)
    print(f"{files} files, {lines} lines, {os.cpu_count()} cores, {arguments.rounds} rounds\n")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        cold = compare(folders, arguments.peers, arguments.rounds, scratch)
        if arguments.other:
            other = Measured("other", [*CHECK, "--no-cache", os.path.abspath(arguments.other)], 1)
            for _ in range(arguments.rounds):
                other.run(scratch)
            other_lines = size_of([arguments.other])[1]
            part = (other.typical / other_lines) / (cold.typical / lines)
            print(
                f"\noff the subject: {other_lines} lines in {other.typical:.2f} s, {part:.2f} of the time "
                "that a line of learning code takes"
            )
        if arguments.corpus:
            growth = Growth.measured([*CHECK, "--no-cache"], Path(arguments.corpus), scratch)
            print(f"\n{growth.described()}")
            if arguments.plot:
                growth.plot(Path(arguments.plot))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
