"""Test suites compared test by test, by pytest's JUnit XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from comparing.running import Copy, Run
from rlint.errors import RlintError

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test, and its message if it did not pass."""

    ending: str
    message: str = ""

    def __str__(self) -> str:
        """In a line."""
        first = self.message.strip().partition("\n")[0]
        return f"{self.ending}: {first}" if first else self.ending


NOT_RUN = Outcome("not run")
_Outcomes = dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class Different:
    """A test with another outcome after fixing, and always the same one before."""

    test: str
    before: Outcome
    after: Outcome
    times: int
    """The number of `runs` after fixing with this outcome."""
    runs: int


@dataclass(frozen=True, slots=True)
class Suite:
    """Two runs before fixing and one after it, compared. Where tests differed, both were run once more."""

    command: str
    endings: Mapping[str, int]
    """How many tests ended how, before."""
    same: int
    different: tuple[Different, ...]
    flaky: tuple[str, ...]
    """Tests whose outcome varies without any fix."""
    runs: tuple[Run, ...]
    """Two runs before fixing and one after; if tests differ, one more of each."""


def compare(copy: Copy, command: str) -> Suite:
    """Run a command with pytest before and after fixing. Raises RlintError if it leaves no report."""
    runs = [copy.run(command, fixed=fixed) for fixed in (False, False, True)]
    before, after = [_outcomes(run, command) for run in runs[:2]], [_outcomes(runs[2], command)]
    same, different, flaky = _judged(before, after)
    if different:  # so that no fix is blamed for occasional differences
        runs += [copy.run(command, fixed=fixed) for fixed in (False, True)]
        before.append(_outcomes(runs[3], command))
        after.append(_outcomes(runs[4], command))
        same, different, flaky = _judged(before, after)
    return Suite(
        command,
        Counter(outcome.ending for outcome in before[0].values()),
        same,
        tuple(different),
        tuple(flaky),
        tuple(runs),
    )


def _judged(before: list[_Outcomes], after: list[_Outcomes]) -> tuple[int, list[Different], list[str]]:
    different, flaky = [], []
    names = dict.fromkeys(test for outcomes in (*before, *after) for test in outcomes)
    for test in names:
        first = [run.get(test, NOT_RUN) for run in before]
        then = [run.get(test, NOT_RUN) for run in after]
        if len({each.ending for each in first}) > 1:
            flaky.append(test)
            continue
        # a message that always varies is not compared
        talks = len(set(first)) == 1
        other = [each for each in then if (each != first[0] if talks else each.ending != first[0].ending)]
        if other:
            different.append(Different(test, first[0], other[0], times=len(other), runs=len(then)))
    return len(names) - len(different) - len(flaky), different, flaky


def _outcomes(run: Run, command: str) -> _Outcomes:
    """Each test of a run by name; names that occur several times are numbered."""
    try:
        tree = ET.parse(run.junit)  # noqa: S314 - written by pytest in a run that was started here
    except (OSError, ET.ParseError) as error:
        raise RlintError(
            f"`{command}` ({run.ran.ending}) left no report of its tests: it has to run pytest, once,"
            f" and without a `--junitxml` of its own{_quoted(run)}"
        ) from error
    found: _Outcomes = {}
    for case in tree.iter("testcase"):
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        number = 1
        while f"{name} #{number}" in found or (number == 1 and name in found):
            number += 1
        endings = [child for child in case if child.tag in ("failure", "error", "skipped")]
        ending = "+".join(
            sorted(
                {"failure": "failed", "error": "error"}.get(child.tag) or _skipped(child) for child in endings
            )
        )
        message = "\n".join(_ADDRESS.sub("0x…", child.get("message") or "") for child in endings)
        found[name if number == 1 else f"{name} #{number}"] = Outcome(ending or "passed", message)
    if not found:
        raise RlintError(f"`{command}` ({run.ran.ending}) ran no test{_quoted(run)}")
    return found


def _skipped(element: ET.Element) -> str:
    return "xfailed" if element.get("type") == "pytest.xfail" else "skipped"


def _quoted(run: Run) -> str:
    written = (run.files / "stdout").read_text("utf-8", "replace").splitlines()[-15:]
    return "".join(f"\n  | {line}" for line in [*written, *run.ran.tail(15)])
