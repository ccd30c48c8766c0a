"""Run programs that people wrote to break safe fixes, before and after fixing; tally differences per rule.

    python tests/properties/by_hand.py FOLDER [FOLDER ...] [--seeds 2] [--only RL101] [--quiet]

Each `.py` file below a folder is one program. It is fixed with the safe fixes of all rules, and run as a
module before and after, with the comparison of `campaign.py`: globals, dtypes, strides, gradients, aliasing,
mutations, output, exceptions and random streams. A program runs by itself: its output, exceptions and globals
are compared. A fix whose line never ran proves nothing and is counted separately.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from properties.jobs import Job  # noqa: E402 - a script finds its modules
from properties.names import global_names  # noqa: E402
from properties.plans import Plan  # noqa: E402
from properties.seeds import Fixed, fixed  # noqa: E402
from properties.server import Comparer  # noqa: E402

SECONDS = 60.0
"""Time limit for all runs of one program."""
COLUMNS = ("programs", "compared", "reached", "varying", "stopped", "different")


def main() -> int:
    """Run as a program; the exit status is 1 where a fix changed what a program does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", action="append", help="a code; programs that it does not fix are left out")
    parser.add_argument("--quiet", action="store_true", help="print the table and the names alone")
    options = parser.parse_args()
    comparer, tallies = Comparer(), defaultdict[str, Counter[str]](Counter)
    untouched, failed = [], False
    for path in sorted(path for folder in options.folders for path in _programs(folder)):
        try:
            made = fixed(path.read_text(encoding="utf-8"))
        except AssertionError as problem:
            print(f"{path}: rlint reports a problem: {problem}")
            failed = True
            continue
        codes = sorted({code for code, _ in made.offered})
        if options.only and not set(codes) & set(options.only):
            continue
        if not codes:
            untouched.append(path)
            continue
        failed |= _compared(path, made, codes, comparer, tallies, options.seeds, quiet=options.quiet)
    comparer.close()
    print(
        f"no safe fix in {len(untouched)} programs"
        + (f": {' '.join(p.name for p in untouched)}" * (not options.quiet))
    )
    print(_table(tallies))
    return int(failed)


def _programs(folder: Path) -> Iterator[Path]:
    return iter([folder]) if folder.is_file() else folder.rglob("*.py")


def _compared(
    path: Path,
    made: Fixed,
    codes: Sequence[str],
    comparer: Comparer,
    tallies: dict[str, Counter[str]],
    seeds: int,
    *,
    quiet: bool,
) -> bool:
    """Whether the program behaves differently after its fixes. Counts it for each rule that fixed it."""
    lines = tuple(line for _, line in made.offered)
    added = global_names(made.after) - global_names(made.before)
    job = Job(made.before, made.after, Plan((), {}, {}), tuple(range(seeds)), lines, added)
    outcome = comparer.compare(job, SECONDS)
    for code in (*codes, "all"):
        tally = tallies[code]
        tally["programs"] += 1
        tally["stopped"] += bool(outcome.error)
        tally["varying"] += not outcome.deterministic
        tally["compared"] += not outcome.error and outcome.deterministic
        tally["reached"] += outcome.reached
        tally["different"] += bool(outcome.differences)
    what = outcome.error or ("varies by itself" if not outcome.deterministic else "")
    if outcome.differences or what:
        print(f"{path}: {', '.join(codes)}: {'DIFFERENT' if outcome.differences else what}")
    elif not outcome.reached:
        print(f"{path}: {', '.join(codes)}: no fixed line ran")
    if outcome.differences and not quiet:
        print("\n".join(outcome.differences), "--- before", made.before, "--- after", made.after, sep="\n")
    return bool(outcome.differences)


def _table(tallies: dict[str, Counter[str]]) -> str:
    lines = ["rule    " + "".join(f"{column:>11}" for column in COLUMNS)]
    lines += [
        f"{code:8}" + "".join(f"{tally[column]:>11,}" for column in COLUMNS)
        for code, tally in sorted(tallies.items())
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
