"""Findings hidden by comments, for a format that lists them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Finding
    from rlint.run_data import Report, Target


def with_hidden(report: Report, targets: Sequence[Target]) -> Report:
    """Return a report of all findings in which those that comments suppress are listed as suppressed.

    Files that are skipped by a comment stay skipped.
    """
    from rlint.registry import catalogue
    from rlint.registry.engine_rules import ENGINE_CODES
    from rlint.run_data import HiddenFindings
    from rlint.suppression import suppressions

    own = {code.code for code in ENGINE_CODES}
    names = {entry.code: entry.name for entry in catalogue.catalogue()}
    shown: list[Finding] = []
    hidden: list[HiddenFindings] = []
    failed = {problem.path for problem in report.problems}
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.path, []).append(finding)
    for target in targets:
        wanted = target.codes is not None and own & target.codes and target.name not in failed
        if target.name not in found and not wanted:
            continue
        comments = suppressions.parse(report.text_of(target.name))
        if comments.skip_file:
            continue
        for finding in found.get(target.name, []):
            if comments.hides(finding):
                hidden.append(HiddenFindings(finding, in_source=True, reason="suppressed by a comment"))
            else:
                shown.append(finding)
        if wanted:
            shown += comments.report(target.name, names, target.codes or ())
    shown.sort(key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(shown), hidden=tuple(hidden))
