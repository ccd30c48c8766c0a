"""Check that a project behaves the same before and after `rlint fix`. Its tests and its seeded trainings are
compared.

    python trust/projects.py PROJECT --tests "python -m pytest -q" [--tests ...] [--train "COMMAND" ...]
                             [--python PYTHON] [--fix PATH ...] [--unsafe-fixes] [--select CODES]
                             [--ignore CODES] [--timeout SECONDS] [--no-coverage] [--json FILE]

The project is copied; the copy holds the original twice and the fixed code once, and each command runs with
each. Tests are compared by name, outcome and failure message; those with varying outcomes before fixing are
called flaky. Trainings are compared by their output without times, and by the files that they write to
`$TRUST_OUT`: checkpoints tensor by tensor, to the bit. docs/trust.md says more. Exit status: 0 the same, 1 a
difference, 2 nothing could be compared.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))  # the rlint of this checkout, whatever is installed

from comparing import suites, trainings  # noqa: E402
from comparing.report import Comparison, as_json, table  # noqa: E402
from comparing.running import Copy  # noqa: E402
from rlint.errors import RlintError  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and return the exit status."""
    order = _parser().parse_args(arguments)
    try:
        found = _compared(order)
    except RlintError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(table(found), end="")
    if order.json:
        order.json.write_text(json.dumps(as_json(found), indent=2) + "\n", encoding="utf-8")
    return 1 if found.differs else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], epilog="docs/trust.md says more."
    )
    add = parser.add_argument
    add("project", type=Path, help="its folder, which is only read")
    add(
        "--tests",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a line for the shell that runs pytest",
    )
    add("--train", action="append", default=[], metavar="COMMAND", help="one that trains, with a seed")
    add("--python", type=Path, help="the project's interpreter; its folder comes first on the PATH")
    add(
        "--fix",
        nargs="+",
        default=["."],
        metavar="PATH",
        help="what to fix, below the project (default: all)",
    )
    add("--unsafe-fixes", action="store_true")
    add("--select", metavar="CODES")
    add("--ignore", metavar="CODES")
    add(
        "--timeout", type=float, default=1800.0, metavar="SECONDS", help="longest for one run (default: 1800)"
    )
    add("--no-coverage", action="store_true", help="do not measure which fixed places run")
    add("--json", type=Path, metavar="FILE", help="write the comparison there, too")
    return parser


def _compared(order: argparse.Namespace) -> Comparison:
    if not order.project.is_dir():
        raise RlintError(f"{order.project} is no folder")
    if not order.tests and not order.train:
        raise RlintError("nothing to compare: give `--tests COMMAND`, `--train COMMAND` or both")
    options = ["--unsafe-fixes"] if order.unsafe_fixes else []
    for name in ("select", "ignore"):
        if getattr(order, name):
            options += [f"--{name}", getattr(order, name)]
    with Copy(order.project, _python(order.python), order.timeout, measure=not order.no_coverage) as copy:
        copy.fix(order.fix, options)
        _report(f"{len(copy.fixes.applied)} fixes in {len(copy.fixes.after)} files")
        tests, trained = [], []
        for command in order.tests:
            _report(f"tests: {command}")
            suite = suites.compare(copy, command)
            _report(f"{suite.same} the same, {len(suite.different)} different, {len(suite.flaky)} flaky")
            tests.append(suite)
        for command in order.train:
            _report(f"training: {command}")
            training = trainings.compare(copy, command)
            _report(training.difference or "identical to the bit")
            trained.append(training)
        name = order.project.resolve().name
        return Comparison(name, tuple(options), copy.fixes, tuple(tests), tuple(trained), tuple(copy.linked))


def _python(given: Path | None) -> Path:
    """An interpreter by its path, not resolved: a virtual environment is identified by the link in it."""
    if given is None:
        return Path(sys.executable)
    found = shutil.which(given)
    if found is None:
        raise RlintError(f"{given} is no program")
    return Path(found).absolute()


def _report(text: str) -> None:
    print(f"trust: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
