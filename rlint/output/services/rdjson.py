"""reviewdog's Diagnostic Format: comments on pull requests, with the fix as a suggestion.

Lines are counted from 1, columns in bytes of UTF-8 from 1
(https://github.com/reviewdog/reviewdog/tree/master/proto/rdf).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rlint.output.parts import ReportParts, problem_text

if TYPE_CHECKING:
    from rlint.findings import Finding, Position, Problem
    from rlint.output import ReportOptions
    from rlint.parsing.positions import Positions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return one object with all diagnostics: the findings, then the problems."""
    parts = ReportParts(report)
    diagnostics = [_finding(finding, parts, options) for finding in report.findings]
    diagnostics += [_problem(problem) for problem in report.problems]
    entry = {"source": {"name": "rlint"}, "severity": "WARNING", "diagnostics": diagnostics}
    return json.dumps(entry, indent=2) + "\n"


def _finding(finding: Finding, parts: ReportParts, options: ReportOptions) -> dict[str, Any]:
    url = options.url_of(finding.code)
    code = {"value": finding.code, **({"url": url} if url else {})}
    advice = f". {finding.advice}" if finding.advice else ""
    entry: dict[str, Any] = {"message": f"{finding.statement}{advice}", "severity": "WARNING", "code": code}
    if finding.cell is not None:  # columns of a cell are not those of the file
        line = {"start": {"line": finding.file_lines[0]}}
        message = f"{finding.place}: {entry['message']}"
        return {**entry, "message": message, "location": {"path": finding.path, "range": line}}
    code_text = parts.code(finding.path, None)
    span = {"start": _place(finding.start, code_text), "end": _place(finding.end, code_text)}
    entry["location"] = {"path": finding.path, "range": span}
    if code_text is not None and (suggestion := _suggestion(finding, code_text)) is not None:
        entry["suggestions"] = [suggestion]
    return entry


def _suggestion(finding: Finding, code: Positions) -> dict[str, Any] | None:
    """Return all edits of a fix as one: reviewdog applies each suggestion separately."""
    if finding.fix is None or finding.fix.other_edits or not finding.fix.edits:
        return None
    edits = sorted(finding.fix.edits, key=lambda edit: (edit.start, edit.end))
    start, end = edits[0].start, max(edit.end for edit in edits)
    text, done = "", start
    for edit in edits:
        text += code.text[done : edit.start] + edit.text
        done = edit.end
    text += code.text[done:end]
    span = {"start": _place(code.position(start), code), "end": _place(code.position(end), code)}
    return {"range": span, "text": text}


def _place(position: Position, code: Positions | None) -> dict[str, int]:
    column = position.column
    if code is not None:
        before = code.line_text(position.line)[: column - 1]
        column = len(before.encode("utf-8", "surrogatepass")) + 1
    return {"line": position.line, "column": column}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "message": problem_text(problem),
        "severity": "ERROR",
        "code": {"value": "invalid-file"},
        "location": {"path": problem.path, "range": {"start": {"line": problem.file_line or 1}}},
    }
