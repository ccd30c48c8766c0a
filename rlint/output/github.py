"""Workflow commands that GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.runs import Report


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return a warning per finding and an error for each thing that could not be done.

    GitHub shows the first ten warnings of a step, so what runs most often comes first.
    """
    lines = [_finding(finding) for finding in sorted(report.findings, key=lambda finding: -finding.heat)]
    lines += [_problem(problem) for problem in report.problems]
    return "".join(line + "\n" for line in lines)


def _finding(finding: Finding) -> str:
    properties: dict[str, str | int] = {
        "title": f"rlint ({finding.code})",
        "file": _absolute(finding.path),
        "line": finding.start.line,
        "endLine": finding.end.line,
    }
    if finding.start.line == finding.end.line:  # columns count in a single line only
        properties.update(col=finding.start.column, endColumn=finding.end.column)
    place = f"{finding.path}:{finding.start.line}:{finding.start.column}"
    help_text = finding.advice or (finding.fix.title if finding.fix else None)
    return _command("warning", properties, f"{place}: {finding.code} {finding.message}", help_text)


def _problem(problem: Problem) -> str:
    properties: dict[str, str | int] = {"title": "rlint", "file": _absolute(problem.path)}
    if problem.line is not None:
        properties["line"] = problem.line
        if problem.column is not None:
            properties["col"] = problem.column
    place = ":".join(str(part) for part in (problem.path, problem.line, problem.column) if part is not None)
    return _command("error", properties, f"{place}: {problem.message}", problem.hint)


def _command(level: str, properties: dict[str, str | int], message: str, help_text: str | None) -> str:
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    # GitHub shows an encoded line end as one.
    more = f"%0A  help: {_data(help_text)}" if help_text else ""
    return f"::{level} {listed}::{_data(message)}{more}"


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _absolute(path: str) -> str:
    return path if path == "-" else str(Path(path).absolute())
