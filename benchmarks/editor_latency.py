"""How long a running `rlint server` takes from a change to its diagnostics, without debouncing.

    python benchmarks/editor_latency.py PROJECT FILE [FILE ...] [--rounds N]

Give it an unpacked real project (the target, 150 ms for a file of 500 lines, is stated for stable-
baselines3) and files in it. The project is copied, and the copy gets a `rlint.toml`, so that its files are
analysed as one program. Four kinds of changes are made to each file, one after the other: a comment at its
end; a line above everything, which moves all lines; a call in a function, so that the project's call graph
changes; and a new function. The time is measured as an editor sees it: from sending a change until the
diagnostics of that version arrive. The medians count. Needs a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from editors import Editor, editor

TARGET = 0.150
LINES = 500


def _called(text: str, number: int) -> str:
    """Insert a call of another name into the first function that returns a value."""
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        if line.lstrip().startswith("return "):
            indent = line[: len(line) - len(line.lstrip())]
            lines.insert(index, f"{indent}self.helper_{number}(1)\n")
            break
    return "".join(lines)


CHANGES: Mapping[str, Callable[[str, int], str]] = {
    "comment": lambda text, number: f"{text}\n# {number}\n",
    "line above": lambda text, number: "\n" * (number % 2 + 1) + text,
    "call": _called,
    "function": lambda text, number: f"{text}\n\ndef added_{number}(env):\n    return env.step({number})\n",
}


async def measure(folder: Path, names: list[str], rounds: int) -> dict[tuple[str, str], list[float]]:
    """The seconds of each change, by file and kind."""
    found: dict[tuple[str, str], list[float]] = {}
    async with editor(folder, options={"debounce": 0}) as opened:
        for name in names:
            text = (folder / name).read_text(encoding="utf-8")
            start = time.perf_counter()
            opened.open(name)
            await opened.diagnostics(name)
            seconds = time.perf_counter() - start
            print(f"{name}: {text.count(chr(10))} lines, first checked after {seconds:.2f} s")
            for kind, change in CHANGES.items():
                await _once(opened, name, change(text, rounds))  # ignores earlier diagnostics
                found[name, kind] = [
                    await _once(opened, name, change(text, number)) for number in range(rounds)
                ]
            opened.close(name)
    return found


async def _once(opened: Editor, name: str, text: str) -> float:
    await asyncio.sleep(0.05)  # a pause, as while typing
    start = time.perf_counter()
    opened.type(name, text)
    await opened.diagnostics(name)
    return time.perf_counter() - start


def main() -> int:
    """Measure, print the table, and fail where a file of about 500 lines misses the target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("project", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "project")
        shutil.copytree(arguments.project, folder)
        (folder / "rlint.toml").touch()
        found = asyncio.run(measure(folder, arguments.files, arguments.rounds))
        lines = {name: (folder / name).read_text(encoding="utf-8").count("\n") for name in arguments.files}
    print(f"\n{'file':50}{'lines':>6}  {'change':12}{'median ms':>10}{'worst ms':>10}")
    missed = False
    for (name, kind), seconds in found.items():
        median = statistics.median(seconds)
        print(f"{name[-48:]:50}{lines[name]:>6}  {kind:12}{median * 1000:10.0f}{max(seconds) * 1000:10.0f}")
        missed = missed or (lines[name] <= LINES and median > TARGET)
    print(f"\ntarget: {TARGET * 1000:.0f} ms for up to {LINES} lines: {'missed' if missed else 'met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
