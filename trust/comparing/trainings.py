"""Seeded trainings compared by their output: lines, and the tensors and bytes of files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comparing.running import Copy, Run
from rlint.errors import RlintError

_DIGEST = Path(__file__).resolve().parents[1] / "digest.py"
_TIME = re.compile(
    r"(?i)\b(?:fps|sps|it/s|s/it|(?:\w*_)?(?:time|elapsed|duration|seconds|date))\b[^\w\n-]*[\d.:e+-]+\w*"
    r"|\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
    r"|\b\d+(?:\.\d+)?\s*(?:it/s|s/it|ms|seconds|sec)\b"
    r"|\b\d{1,2}:\d\d(?::\d\d)?\b"
)
_Parts = Mapping[str, tuple[str, str]]
"""The results of a training by name: the compared value, and the shown one."""


@dataclass(frozen=True, slots=True)
class Training:
    """Two runs before fixing and one after it, compared. Where they differed, both were run once more."""

    command: str
    lines: int
    """Lines of the standard output that are compared, without times."""
    parts: int
    """Tensors, arrays, values and files that are compared."""
    varying: tuple[str, ...]
    """Results that differ between runs before fixing, and are not compared."""
    difference: str | None
    """The first result that differs after fixing."""
    runs: tuple[Run, ...]


def compare(copy: Copy, command: str) -> Training:
    """Run a training before and after fixing. Raises RlintError if it fails before fixing, or writes
    nothing.
    """
    runs = [copy.run(command, fixed=fixed) for fixed in (False, False, True)]
    for run in runs[:2]:
        if not run.ran.passed:
            tail = "".join(f"\n  | {line}" for line in run.ran.tail(15))
            raise RlintError(f"`{command}` fails before fixing ({run.ran.ending}){tail}")
    before, after = [_written(copy, run) for run in runs[:2]], [_written(copy, runs[2])]
    if not before[0]:
        raise RlintError(f"`{command}` wrote nothing to compare, neither to stdout nor to $TRUST_OUT")
    if _difference(before, after):  # so that no fix is blamed for occasional differences
        runs += [copy.run(command, fixed=fixed) for fixed in (False, True)]
        before.append(_written(copy, runs[3]))
        after.append(_written(copy, runs[4]))
    varying = _varying(before)
    compared = [name for name in before[0] if name not in varying]
    if not compared:
        raise RlintError(f"`{command}` is not seeded: all that it writes differs from run to run")
    lines = sum(name.startswith("stdout:") for name in compared)
    failed = next((run for run in (runs[2], *runs[4:]) if not run.ran.passed), None)
    difference = _difference(before, after)
    if failed:
        difference = f"fails after fixing ({failed.ran.ending}): {' | '.join(failed.ran.tail(3))}"
    return Training(command, lines, len(compared) - lines, tuple(sorted(varying)), difference, tuple(runs))


def _varying(before: Sequence[_Parts]) -> set[str]:
    """Results that differ in two runs before fixing."""
    first = before[0]
    return {name for other in before[1:] for name in {**first, **other} if first.get(name) != other.get(name)}


def _difference(before: Sequence[_Parts], after: Sequence[_Parts]) -> str | None:
    varying, first = _varying(before), before[0]
    for then in after:
        for name, part in first.items():
            if name in varying:
                continue
            if name not in then:
                return f"{name}: gone after fixing, was {part[1]}"
            if then[name] != part:
                return f"{name}: {part[1]} before, {then[name][1]} after fixing"
        for name, part in then.items():
            if name not in first and name not in varying:
                return f"{name}: only after fixing, {part[1]}"
    return None


def _written(copy: Copy, run: Run) -> dict[str, tuple[str, str]]:
    printed = (run.files / "stdout").read_text("utf-8", "replace")
    (run.files / "stdout").unlink()
    lines = [_without_times(line) for line in printed.splitlines()]
    found = {f"stdout:{number}": (line, line) for number, line in enumerate(lines, 1)}
    for file, parts in json.loads(copy.ask(_DIGEST, str(run.files))).items():
        for name, (digest, shown) in parts.items():
            found[f"{file}: {name}" if name else file] = (digest, shown)
    return found


def _without_times(line: str) -> str:
    found, times = _TIME.subn("<time>", line)
    return " ".join(found.split()) if times else found  # a table pads shorter cells
