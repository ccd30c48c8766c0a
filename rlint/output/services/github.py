"""Workflow commands that GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.parts import absolute_name
from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return a warning per finding and an error for each problem.

    GitHub shows the first ten warnings of a step, so code that runs most often comes first.
    """
    lines = [_finding(finding) for finding in sorted(report.findings, key=lambda finding: -finding.heat)]
    lines += [_problem(problem) for problem in report.problems]
    return "".join(line + "\n" for line in lines)


def _finding(finding: Finding) -> str:
    properties: dict[str, str | int] = {
        "title": f"rlint ({finding.code})",
        "file": absolute_name(finding.path),
        **_where(finding),
    }
    place = f"{finding.path}:{finding.place}"
    help_text = finding.advice or (finding.fix.title if finding.fix else None)
    return _command("warning", properties, f"{place}: {finding.code} {finding.statement}", help_text)


def _where(finding: Finding) -> dict[str, str | int]:
    """Return the lines in the file itself, as GitHub shows changed lines."""
    if finding.cell is not None:  # columns there are those of JSON
        return {"line": finding.cell.file_line}
    start, end = finding.start, finding.end
    where: dict[str, str | int] = {"line": start.line, "endLine": end.line}
    if start.line == end.line:  # columns count in a single line only
        where.update(col=start.column, endColumn=end.column)
    return where


def _problem(problem: Problem) -> str:
    properties: dict[str, str | int] = {"title": "rlint", "file": absolute_name(problem.path)}
    if problem.cell is not None:
        properties["line"] = problem.cell.file_line
    elif problem.line is not None:
        properties["line"] = problem.line
        if problem.column is not None:
            properties["col"] = problem.column
    return _command("error", properties, f"{problem.place}: {problem.message}", problem.hint)


def _command(level: str, properties: dict[str, str | int], message: str, help_text: str | None) -> str:
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    # GitHub shows an encoded line end as one.
    more = f"%0A  help: {_data(help_text)}" if help_text else ""
    return f"::{level} {listed}::{_data(message)}{more}"


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
