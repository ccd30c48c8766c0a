"""One line per finding: `path:line:column: CODE [*] message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.counts import is_fixable, summary
from rlint.output.terminal import Paint, TextStyle, printable

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return the findings, then the problems, then the summary."""
    paint = Paint(color=options.color)
    lines = [_finding(finding, options, paint) for finding in report.findings]
    lines += [_problem(problem, paint) for problem in report.problems]
    return "".join(line + "\n" for line in lines) + (summary(report, options) if options.summary else "")


def _finding(finding: Finding, options: ReportOptions, paint: Paint) -> str:
    place = f"{paint(TextStyle.PATH, printable(finding.path))}:{finding.place}:"
    mark = paint(TextStyle.MARK, "[*]") + " " if is_fixable(finding, options) else ""
    share = ""
    if options.heating is not None and finding in options.heating.findings:
        from rlint.output import profile_report

        share = f" {profile_report.short(options.heating.findings[finding])}"
    return f"{place} {paint(TextStyle.ALERT, finding.code)} {mark}{printable(finding.statement)}{share}"


def _problem(problem: Problem, paint: Paint) -> str:
    place = paint(TextStyle.PATH, printable(problem.path)) + problem.place[len(problem.path) :]
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place}: {paint(TextStyle.ALERT, 'error')}: {printable(problem.message + hint)}"
