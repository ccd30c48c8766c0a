"""A JSON array of findings, in the format of ruff, with the heat added."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rlint.findings import Position, Problem
from rlint.output.parts import ReportPart, ReportParts, absolute_name
from rlint.suppression.fingerprints import fingerprints, of_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Cell, Finding, Fix, Impact, Related
    from rlint.output import ReportOptions
    from rlint.profiles.heated import Heating
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return the findings, then the problems, with `code` null."""
    return json.dumps(report_entries(report, options), indent=2) + "\n"


def report_entries(report: Report, options: ReportOptions) -> list[dict[str, Any]]:
    """Return an entry for each finding, then for each problem and, with a profile, for the run."""
    entries = finding_entries(report.findings, report, options)
    entries += [problem_entry(problem) for problem in report.problems]
    if options.heating is not None:
        entries = _with_profile(report, entries, options.heating)
    return entries


def _with_profile(report: Report, entries: list[dict[str, Any]], heating: Heating) -> list[dict[str, Any]]:
    """Return each entry with its profile data, followed by an entry about the run as a whole."""
    from rlint.output import profile_report

    said = [profile_report.as_json(heating.findings.get(finding)) for finding in report.findings]
    said += [None] * len(report.problems)
    run = problem_entry(Problem(heating.path, f"profile of a run of {profile_report.amount(heating)}"))
    entries = [*entries, {**run, "name": "profile", "severity": "information"}]
    return [
        {**entry, "profile": about}
        for entry, about in zip(entries, [*said, profile_report.run_as_json(heating)], strict=True)
    ]


def _finding(
    finding: Finding, parts: ReportParts, options: ReportOptions, fingerprint: str
) -> dict[str, Any]:
    changed = parts.of_fix(finding.path, finding.fix) if finding.fix else None
    return {
        **_cell(finding.cell),
        "code": finding.code,
        "name": finding.name,
        "confidence": str(finding.confidence),
        "assumption": finding.assumption,
        "impact": _impact(finding.impact),
        "message": finding.statement,
        "advice": finding.advice,
        "filename": absolute_name(finding.path),
        "location": _place(finding.shown_start),
        "end_location": _place(finding.shown_end),
        "fingerprint": fingerprint,
        "fix": _fix(finding.fix, changed) if finding.fix and changed else None,
        "heat": str(finding.heat),
        "heat_chain": list(finding.chain),
        "measured": options.measured.get(finding.code),
        "related": [_related(place) for place in finding.related],
        "noqa_row": finding.noqa_line - (finding.cell.before if finding.cell else 0),
        "severity": "warning",
        "url": options.url_of(finding.code),
    }


def _impact(impact: Impact | None) -> dict[str, str] | None:
    return {"level": str(impact.level), "basis": impact.basis} if impact is not None else None


def _related(place: Related) -> dict[str, Any]:
    return {
        **_cell(place.cell),
        "filename": absolute_name(place.path),
        "location": _place(place.shown_start),
        "end_location": _place(place.shown_end),
        "message": place.message,
    }


def finding_entries(
    findings: Sequence[Finding], report: Report, options: ReportOptions
) -> list[dict[str, Any]]:
    """Return findings of a report as `render` shows them."""
    parts = ReportParts(report)
    return [
        _finding(finding, parts, options, fingerprint)
        for finding, fingerprint in zip(findings, fingerprints(findings, report), strict=True)
    ]


def _cell(cell: Cell | None) -> dict[str, Any]:
    """Return rows and columns within the cell, for notebooks."""
    return {"cell": cell.index, "cell_id": cell.id} if cell else {"cell": None}


def _fix(fix: Fix, parts: list[ReportPart]) -> dict[str, Any]:
    return {
        "applicability": fix.safety.value,
        "message": fix.title,
        "reason": fix.reason,
        "edits": [
            {
                **({"cell": part.cell, "cell_id": part.cell_id} if part.cell else {}),
                "content": edit.text,
                "location": _place(part.positions.position(edit.start)),
                "end_location": _place(part.positions.position(edit.end)),
            }
            for part in parts
            for edit in part.edits
        ],
        **({"other_files": [absolute_name(name) for name in fix.files]} if fix.other_edits else {}),
    }


def problem_entry(problem: Problem) -> dict[str, Any]:
    """Return a problem as an entry like a finding's."""
    place = _place(Position(problem.line or 1, problem.column or 1))
    return {
        **_cell(problem.cell),
        "code": None,
        "confidence": None,
        "assumption": None,
        "impact": None,
        "related": [],
        "name": "invalid-file",
        "message": problem.message,
        "advice": problem.hint,
        "filename": absolute_name(problem.path),
        "location": place,
        "end_location": place,
        "fingerprint": of_problem(problem),
        "fix": None,
        "heat": None,
        "heat_chain": [],
        "measured": None,
        "noqa_row": None,
        "severity": "error",
        "url": None,
    }


def _place(position: Position) -> dict[str, int]:
    return {"row": position.line, "column": position.column}
