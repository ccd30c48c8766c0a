"""Logging commands that Azure Pipelines shows as warnings of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.parts import absolute_name, problem_text
from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return a warning per finding and an error for each problem."""
    lines = [_finding(finding) for finding in report.findings]
    lines += [_problem(problem) for problem in report.problems]
    return "".join(line + "\n" for line in lines)


def _finding(finding: Finding) -> str:
    more = f" ({finding.advice})" if finding.advice else ""
    message = f"{finding.statement}{more}"
    if finding.cell is not None:
        message = f"{finding.place}: {message}"
    column = finding.start.column if finding.cell is None else None
    return _command("warning", finding.path, finding.file_lines[0], column, finding.code, message)


def _problem(problem: Problem) -> str:
    column = problem.column if problem.cell is None else None
    return _command("error", problem.path, problem.file_line, column, "invalid-file", problem_text(problem))


def _command(level: str, path: str, line: int | None, column: int | None, code: str, message: str) -> str:
    properties: dict[str, str | int | None] = {
        "type": level,
        "sourcepath": absolute_name(path),
        "linenumber": line,
        "columnnumber": column,
        "code": code,
    }
    listed = "".join(
        f"{key}={_property(str(value))};" for key, value in properties.items() if value is not None
    )
    return f"##vso[task.logissue {listed}]{_data(message)}"


def _data(text: str) -> str:
    return printable(text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace("]", "%5D").replace(";", "%3B")
