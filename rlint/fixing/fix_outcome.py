"""The result of `rlint fix`: what it did, and why findings remain."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlint.findings import Applicability, Finding, Problem
from rlint.frozen import frozen
from rlint.run_data import FixId, FixReport, Report

if TYPE_CHECKING:
    from rlint.trial.trial import Tried


class Why(enum.Enum):
    """Why a finding remains. The value is used in machine-readable output."""

    NO_FIX = "no-fix"
    UNSAFE = "unsafe"
    CONFLICT = "conflict"
    UNPARSABLE = "unparsable"
    NOT_WRITTEN = "not-written"
    FAILS = "verification-failed"
    SLOWER = "verification-slower"
    DEPENDENT = "depends-on-another"
    SUPPRESSED = "suppressed"
    BASELINE = "baseline"


SAID: Mapping[Why, str] = {
    Why.NO_FIX: "without an automatic fix",
    Why.UNSAFE: "with an unsafe fix (`--unsafe-fixes`)",
    Why.CONFLICT: "in conflict with other fixes",
    Why.UNPARSABLE: "that would have left a file unparsable",
    Why.NOT_WRITTEN: "in files that could not be written",
    Why.FAILS: "with which the command fails",
    Why.SLOWER: "with which the command is slower",
    Why.DEPENDENT: "that need a fix which was not applied",
    Why.SUPPRESSED: "suppressed by comments",
    Why.BASELINE: "listed in the baseline",
}
"""Completes "3 findings …"."""


@frozen
class UnappliedFix:
    """A finding that was not fixed. `detail` says more about the single case."""

    finding: Finding
    why: Why
    detail: str | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether the user chose to hide the finding, so that it is not counted."""
        return self.why in (Why.SUPPRESSED, Why.BASELINE)


@frozen
class File:
    """A file that fixes change, and the number of fixes. `problem` says why it could not be written."""

    name: str
    fixes: int
    problem: Problem | None = None


@frozen
class FixOutcome:
    """Fixed findings, at their places before any fix; remaining findings; and the files.

    `removed` are findings that disappeared with the fixes of others. `new_fixed` and `new_left` count the
    fixed and remaining findings that did not exist at first.
    """

    fixed: tuple[tuple[FixId, Finding], ...]
    left: tuple[UnappliedFix, ...]
    files: tuple[File, ...]
    tried: Tried | None = None
    removed: tuple[Finding, ...] = ()
    new_fixed: int = 0
    new_left: int = 0


def outcome_of(
    fixed: FixReport,
    report: Report,
    refused: Mapping[str, Problem],
    *,
    unsafe: bool,
    tried: Tried | None = None,
) -> FixOutcome:
    """Return the result of fixing. `report` is about the files as they are now; `refused` contains the files
    that could not be written, by name.
    """
    done = [
        (name, finding)
        for name, finding in zip(fixed.ids, fixed.applied, strict=True)
        if finding.path not in refused
    ]
    names = dict(zip(fixed.report.findings, fixed.left, strict=True))
    reasons = _of_trial(tried)
    left = []
    for finding in report.findings:
        problem = refused.get(finding.path)
        name = names.get(finding)
        if finding.fix is None:
            left.append(UnappliedFix(finding, Why.NO_FIX, finding.no_fix))
        elif finding.fix.safety is Applicability.UNSAFE and not unsafe:
            left.append(UnappliedFix(finding, Why.UNSAFE, finding.fix.reason))
        elif problem is not None:
            left.append(UnappliedFix(finding, Why.NOT_WRITTEN, problem.message))
        elif name in reasons:
            left.append(UnappliedFix(finding, *reasons[name]))
        elif name in fixed.refused:
            left.append(UnappliedFix(finding, Why.UNPARSABLE))
        else:
            left.append(UnappliedFix(finding, Why.CONFLICT))
    left += [
        UnappliedFix(each.finding, Why.SUPPRESSED if each.in_source else Why.BASELINE, each.reason)
        for each in report.hidden
    ]
    files = [
        File(each.source.name, len(each.applied), refused.get(each.source.name)) for each in fixed.changed
    ]
    return FixOutcome(
        tuple(done),
        tuple(left),
        tuple(files),
        tried,
        tuple(finding for finding in fixed.removed if finding.path not in refused),
        sum(name in fixed.new for name, _ in done),
        sum(names.get(finding) in fixed.new for finding in report.findings if finding.path not in refused),
    )


def _of_trial(tried: Tried | None) -> dict[FixId | None, tuple[Why, str]]:
    if tried is None:
        return {}
    reasons: dict[FixId | None, tuple[Why, str]] = {
        name: (Why.DEPENDENT, "it needs a fix that was not applied") for name, _ in tried.dependent
    }
    for culprits in tried.left_out:
        slower = culprits.speed is not None
        detail = str(culprits.speed) if slower else culprits.ran.ending
        reasons.update((name, (Why.SLOWER if slower else Why.FAILS, detail)) for name in culprits.ids)
    return reasons
