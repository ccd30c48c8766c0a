"""Findings by rule, those of each rule by file: for a first overview of a project, or one rule at a time."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rlint.output.counts import count, is_fixable, summary
from rlint.output.ranking import groups
from rlint.output.terminal import Paint, TextStyle, printable

if TYPE_CHECKING:
    from rlint.findings import Finding
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return a paragraph per rule, in the order of the report, then errors and the summary."""
    paint = Paint(color=options.color)
    parts = [
        _rule([*group.shown, *group.folded], options, paint) for group in groups(report.findings, fold=False)
    ]
    if report.problems:
        parts.append("".join(f"{printable(str(problem))}\n" for problem in report.problems))
    if options.summary:
        parts.append(summary(report, options))
    return "\n".join(parts)


def _rule(findings: list[Finding], options: ReportOptions, paint: Paint) -> str:
    first = findings[0]
    fixable = sum(is_fixable(finding, options) for finding in findings)
    mark = f", {fixable} {paint(TextStyle.MARK, '[*]')} fixable" if fixable else ""
    head = f"{paint(TextStyle.ALERT, first.code)} {first.name}: {count(len(findings), 'finding')}{mark}"
    lines = [head]
    for path, group in groupby(sorted(findings, key=lambda each: each.sort_key), key=lambda each: each.path):
        lines.append(f"  {paint(TextStyle.PATH, printable(path))}")
        lines += [_finding(finding, options, paint) for finding in group]
    return "".join(line + "\n" for line in lines)


def _finding(finding: Finding, options: ReportOptions, paint: Paint) -> str:
    mark = f"{paint(TextStyle.MARK, '[*]')} " if is_fixable(finding, options) else ""
    impact = (
        f" ({finding.impact.level} impact)" if finding.impact is not None and finding.impact.level else ""
    )
    return f"    {finding.place} {mark}{printable(finding.statement)}{impact}"
