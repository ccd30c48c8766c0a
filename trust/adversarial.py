"""Measure how the time of rlint grows for programs that are constructed to be slow.

    python trust/adversarial.py [PART OF A NAME ...] [--most-bytes 100000]

Checks and fixes each kind of program (hostile.py) at doubling sizes, up to a number of bytes or ten seconds,
each in a separate process. The slope is that of time over size on logarithmic scales, over the last sizes: 1
is linear, 2 quadratic. A kind fails if it takes more than ten seconds or a gigabyte, if its slope is above
1.5, or if rlint fails.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "trust")]

import forms  # noqa: E402
import hostile  # noqa: E402
from limits import MOST_BYTES, MOST_SECONDS, OvertimeError, Spent, watched  # noqa: E402
from promises import CODES, Failure, bug_of, failure_of  # noqa: E402
from rlint.engine import api  # noqa: E402
from rlint.findings import Problem  # noqa: E402
from rlint.registry import catalogue  # noqa: E402
from rlint.run_data import Target  # noqa: E402
from rlint.source.files import source_from_text  # noqa: E402

SMALLEST = 32
LEAST_SECONDS = 0.4
"""Shorter times do not show growth: any file takes as long."""
STEEP = 1.5


@dataclass(frozen=True)
class Measured:
    """The cost and the outcome of one size."""

    size: int
    check: float
    fix: float
    memory: int
    findings: int
    failures: tuple[Failure, ...] = ()

    @property
    def seconds(self) -> float:
        """All time of the processor."""
        return self.check + self.fix


def main() -> int:
    """Measure all kinds, or those whose names contain a word; return 1 if any fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--most-bytes", type=int, default=100_000)
    parser.add_argument("--from", dest="first", help="begin with the kind of this name")
    parser.add_argument(
        "--fixtures", action="store_true", help="the programs of the fixtures, many times over"
    )
    options = parser.parse_args()
    catalogue.load_usable(CODES)
    kinds = dict(forms.of_fixtures()) if options.fixtures else hostile.KINDS
    names = list(kinds)
    kinds = {name: kinds[name] for name in names[names.index(options.first) if options.first else 0 :]}
    failed = 0
    for name, make in kinds.items():
        if not options.words or any(word in name for word in options.words):
            rows = measured(make, options.most_bytes)
            said = verdict(rows)
            failed += bool(said)
            print(line(name, rows) + (f"  {said}" if said else ""), flush=True)
            for failure in rows[-1].failures:
                print("    " + failure.detail.replace("\n", "\n    "), flush=True)
    print(f"{failed} of {len(kinds)} kinds fail")
    return 1 if failed else 0


def measured(make: Callable[[int], str | forms.Files], most_bytes: int) -> list[Measured]:
    """Measure doubling sizes of a kind."""
    rows: list[Measured] = []
    n = SMALLEST
    while True:
        made = make(n)
        files = {"program.py": made} if isinstance(made, str) else dict(made)
        size = sum(len(text) for text in files.values())
        if rows and (size > most_bytes or size == rows[-1].size):
            return rows
        with multiprocessing.get_context("fork").Pool(1) as pool:
            row = pool.apply(_measure, (files, size))
        rows.append(row)
        if row.failures or row.seconds > MOST_SECONDS:
            return rows
        n *= 2


def _measure(files: forms.Files, size: int) -> Measured:
    folder = Path(tempfile.gettempdir(), "rlint-adversarial-nowhere")
    targets, failures, check, fix, findings = [], [], 0.0, 0.0, 0
    spent = Spent()
    try:
        with watched(3 * MOST_SECONDS) as spent:
            for name, text in files.items():
                source = source_from_text(text.encode(), name, folder / name)
                if not isinstance(source, Problem):
                    targets.append(Target(source, source.path, name, CODES))
            started = time.process_time()
            fixer = api.Fixer(targets, jobs=1)
            check = time.process_time() - started
            report = fixer.fix(unsafe=True)
            fix = time.process_time() - started - check
            findings = len(report.report.findings) + len(report.applied)
            failures += [bug_of(problem) for problem in report.report.problems if problem.is_bug]
    except OvertimeError as error:
        failures.append(failure_of("time", error))
    except Exception as error:  # noqa: BLE001 - whatever it is, rlint should have reported it
        failures.append(failure_of("exception", error))
    rest = spent.seconds - check - fix
    return Measured(
        size, check + rest * (not check), fix + rest * bool(check), spent.bytes, findings, tuple(failures)
    )


def slope(rows: Sequence[Measured]) -> float | None:
    """The exponent of the time over the last three sizes; None if the times are too short."""
    described = [row for row in rows if row.seconds >= LEAST_SECONDS][-3:]
    if len(described) < 2:
        return None
    return math.log(described[-1].seconds / described[0].seconds) / math.log(
        described[-1].size / described[0].size
    )


def verdict(rows: Sequence[Measured]) -> str:
    """The failure of a kind; empty if there is none."""
    last, steep = rows[-1], slope(rows)
    said = [failure.key for failure in last.failures]
    said += ["slow"] if last.seconds > MOST_SECONDS else []
    said += [f"{last.memory / 1e6:.0f} MB"] if last.memory > MOST_BYTES else []
    said += ["steep"] if steep is not None and steep > STEEP else []
    return ", ".join(said)


def line(name: str, rows: Sequence[Measured]) -> str:
    """The figures of a kind in a line."""
    last, steep = rows[-1], slope(rows)
    shown = "    -" if steep is None else f"{steep:5.2f}"
    return (
        f"{name:45} {last.size / 1e3:7.0f} kB  check {last.check:6.2f} s  fix {last.fix:6.2f} s  "
        f"{last.memory / 1e6:5.0f} MB  slope {shown}  {last.findings:5} findings"
    )


if __name__ == "__main__":
    sys.exit(main())
