"""GitLab's Code Quality report, which merge requests show."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlint.findings import Heat
from rlint.output.parts import problem_text
from rlint.suppression.fingerprints import fingerprints, of_problem

if TYPE_CHECKING:
    from rlint.findings import Finding, Problem
    from rlint.output import ReportOptions
    from rlint.run_data import Report

_SEVERITIES = {Heat.HOT: "major", Heat.WARM: "minor", Heat.COLD: "info"}


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return the findings and the problems, the former by how often their lines run."""
    known = zip(report.findings, fingerprints(report.findings, report), strict=True)
    entries = [_finding(finding, fingerprint) for finding, fingerprint in known]
    entries += [_problem(problem) for problem in report.problems]
    return json.dumps(entries, indent=2) + "\n"


def _finding(finding: Finding, fingerprint: str) -> dict[str, Any]:
    more = f". {finding.advice}" if finding.advice else ""
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.name}: {_cell(finding)}{finding.statement}{more}",
        "categories": ["Performance"],
        "severity": _SEVERITIES[finding.heat],
        "fingerprint": fingerprint,
        "location": {
            "path": _path(finding.path),
            **_positions(finding),
            "lines": {"begin": finding.file_lines[0], "end": finding.file_lines[1]},
        },
    }


def _cell(finding: Finding) -> str:
    return f"{finding.place}: " if finding.cell is not None else ""


def _positions(finding: Finding) -> dict[str, Any]:
    if finding.cell is not None:  # columns of a cell are not those of the file
        return {}
    start, end = finding.start, finding.end
    return {
        "positions": {
            "begin": {"line": start.line, "column": start.column},
            "end": {"line": end.line, "column": end.column},
        }
    }


def _problem(problem: Problem) -> dict[str, Any]:
    line = problem.file_line or 1
    return {
        "type": "issue",
        "check_name": "invalid-file",
        "description": problem_text(problem),
        "categories": ["Bug Risk"],
        "severity": "critical",
        "fingerprint": of_problem(problem),
        "location": {"path": _path(problem.path), "lines": {"begin": line, "end": line}},
    }


def _path(name: str) -> str:
    """Return the path relative to the root of the project, in a GitLab job; else to the working folder."""
    top = os.environ.get("CI_PROJECT_DIR")
    if top and name != "-":
        try:
            return Path(name).absolute().relative_to(top).as_posix()
        except ValueError:
            pass
    return name
