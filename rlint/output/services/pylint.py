"""One line per finding in pylint's `parseable` format: `path:line: [CODE(name)] message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.parts import problem_text
from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return the findings, then the problems."""
    lines = [_finding(finding) for finding in report.findings]
    lines += [_problem(problem) for problem in report.problems]
    return "".join(printable(line) + "\n" for line in lines)


def _finding(finding: Finding) -> str:
    cell = f"{finding.place}: " if finding.cell is not None else ""
    return (
        f"{finding.path}:{finding.file_lines[0]}: [{finding.code}({finding.name})] {cell}{finding.statement}"
    )


def _problem(problem: Problem) -> str:
    return f"{problem.path}:{problem.file_line or 1}: [invalid-file] {problem_text(problem)}"
