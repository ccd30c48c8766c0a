"""SARIF 2.1.0 (OASIS), for GitHub code scanning, Azure DevOps and editors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rlint import __version__
from rlint.findings import Applicability, Confidence, ImpactLevel, digest_of, loop_of
from rlint.output.parts import ReportParts, problem_text
from rlint.output.ranking import impact_level
from rlint.output.services.sarif_rules import NOTIFICATIONS, notification_of, rule_object
from rlint.suppression.fingerprints import NAME, fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Edit, Finding, Fix, Position, Problem, Related
    from rlint.output import ReportOptions
    from rlint.run_data import HiddenFindings, Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_LINK = re.compile(r"\[[^\[\]]*\]\([^()]*\)")


def render(report: Report, options: ReportOptions) -> str:
    """Return one run: rules, findings, suppressed ones, and problems."""
    return json.dumps(_log(report, options), indent=2) + "\n"


def _log(report: Report, options: ReportOptions) -> dict[str, Any]:
    hidden = {id(each.finding): each for each in report.hidden}
    findings = sorted(
        [*report.findings, *(each.finding for each in report.hidden)], key=lambda finding: finding.sort_key
    )
    codes = sorted({finding.code for finding in findings})
    writer = _Writer(report, {code: index for index, code in enumerate(codes)}, options)
    results = [
        writer.result(finding, fingerprint, hidden.get(id(finding)))
        for finding, fingerprint in zip(findings, fingerprints(findings, report), strict=True)
    ]
    driver: dict[str, Any] = {
        "name": "rlint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [rule_object(code, options) for code in codes],
    }
    if report.problems:
        driver["notifications"] = NOTIFICATIONS
    here = Path.cwd().as_uri() + "/"
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": here}},
        "invocations": [
            {
                "executionSuccessful": bool(report.checked or not report.problems),
                "workingDirectory": {"uri": here},
                "toolExecutionNotifications": [_notification(problem) for problem in report.problems],
            }
        ],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


class _Writer:
    def __init__(self, report: Report, indices: dict[str, int], options: ReportOptions) -> None:
        self._report = report
        self._indices = indices
        self._options = options
        self._parts = ReportParts(report)

    def result(self, finding: Finding, fingerprint: str, hidden: HiddenFindings | None) -> dict[str, Any]:
        """Return one finding; `suppressions` is set for all, as the standard requires if it is set for
        any.
        """
        said = finding.statement if not finding.advice else f"{finding.statement}. {finding.advice}"
        if finding.cell is not None:
            said = f"{finding.place}: {said}"
        properties: dict[str, Any] = {"heat": str(finding.heat)}
        if finding.chain:
            properties["heatChain"] = list(finding.chain)
        properties["confidence"] = str(finding.confidence)
        if finding.impact is not None:
            properties["impact"] = str(finding.impact.level)
        if measured := self._options.measured.get(finding.code):
            properties["measured"] = measured
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._indices[finding.code],
            "level": "warning" if finding.confidence is Confidence.CERTAIN else "note",
            "rank": _rank(finding),
            "message": {"text": _plain(said)},
            "locations": [_location(finding)],
            "partialFingerprints": {NAME: fingerprint},
            "suppressions": [_suppression(hidden)] if hidden is not None else [],
            "properties": properties,
        }
        if finding.related:
            result["relatedLocations"] = [_related(place) for place in finding.related]
        if flow := _flow(finding):
            result["codeFlows"] = [flow]
        if finding.fix is not None:
            properties["applicability"] = finding.fix.safety.value
            # the lines and columns of a cell are not those of the file
            if finding.cell is None and (fix := self._fix(finding.path, finding.fix)):
                result["fixes"] = [fix]
        return result

    def _fix(self, path: str, fix: Fix) -> dict[str, Any] | None:
        """Return a fix with all files that it changes; none if one of them has changed since."""
        changes = [self._change(path, fix.edits)] if fix.edits else []
        for other in fix.other_edits:
            known = digest_of(self._report.text_of(other.path)) == other.digest
            changes.append(self._change(other.path, other.edits) if known else None)
        if not changes or None in changes:
            return None
        text = fix.title
        if fix.safety is Applicability.UNSAFE:
            text += f" (unsafe: {fix.reason})" if fix.reason else " (unsafe)"
        return {"description": {"text": text}, "artifactChanges": changes}

    def _change(self, path: str, edits: Sequence[Edit]) -> dict[str, Any] | None:
        positions = self._parts.code(path, None)
        if positions is None or path.endswith(".ipynb"):
            return None
        replacements = [
            {
                "deletedRegion": _region(positions.position(edit.start), positions.position(edit.end)),
                "insertedContent": {"text": edit.text},
            }
            for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))
        ]
        return {"artifactLocation": _artifact(path), "replacements": replacements}


_CONFIDENCE_RANKS = {Confidence.CERTAIN: 60.0, Confidence.LIKELY: 30.0, Confidence.POSSIBLE: 5.0}
_IMPACT_RANKS = {
    ImpactLevel.HIGH: 40.0,
    ImpactLevel.MEDIUM: 20.0,
    ImpactLevel.UNKNOWN: 10.0,
    ImpactLevel.LOW: 0.0,
}


def _rank(finding: Finding) -> float:
    """Return how important a finding is, from 0 to 100 as in the standard: by confidence, then impact."""
    return _CONFIDENCE_RANKS[finding.confidence] + _IMPACT_RANKS[impact_level(finding)]


def _flow(finding: Finding) -> dict[str, Any] | None:
    """Return the chain that makes a line hot as a code flow that ends at the line; None if no link of it has
    a place.
    """
    if not any(map(loop_of, finding.chain)):
        return None
    links = [{"location": _chain_location(link)} for link in finding.chain]
    return {"threadFlows": [{"locations": [*links, {"location": _location(finding)}]}]}


def _chain_location(link: str) -> dict[str, Any]:
    message = {"text": _plain(link)}
    loop = loop_of(link)
    if loop is None or loop.path.endswith(".ipynb"):
        return {"message": message}
    region = {"startLine": loop.line}
    return {
        "physicalLocation": {"artifactLocation": _artifact(loop.path), "region": region},
        "message": {"text": _plain(loop.header)},
    }


def _related(place: Related) -> dict[str, Any]:
    region = {"startLine": place.cell.file_line} if place.cell else _region(place.start, place.end)
    return {
        "physicalLocation": {"artifactLocation": _artifact(place.path), "region": region},
        "message": {"text": _plain(place.message)},
    }


def _plain(text: str) -> str:
    """Return text without links: readers interpret `[text](target)`."""
    return _LINK.sub(lambda found: found[0].replace("[", r"\[").replace("]", r"\]"), text)


def _suppression(hidden: HiddenFindings) -> dict[str, str]:
    kind = "inSource" if hidden.in_source else "external"
    return {"kind": kind, "status": "accepted", "justification": hidden.reason}


def _notification(problem: Problem) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.file_line is not None:
        place["region"] = {"startLine": problem.file_line}
        if problem.cell is None and problem.column is not None:
            place["region"]["startColumn"] = problem.column
    return {
        "descriptor": {"id": notification_of(problem)},
        "level": "error",
        "message": {"text": _plain(problem_text(problem))},
        "locations": [{"physicalLocation": place}],
    }


def _location(finding: Finding) -> dict[str, Any]:
    artifact = _artifact(finding.path)
    if finding.cell is None:
        region = _region(finding.start, finding.end)
        return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    named = {"name": f"cell {finding.cell.index}", "kind": "element"}
    if finding.cell.id is not None:
        named["fullyQualifiedName"] = finding.cell.id
    region = {"startLine": finding.cell.file_line}
    place = {"artifactLocation": artifact, "region": region}
    return {"physicalLocation": place, "logicalLocations": [named]}


def _region(start: Position, end: Position) -> dict[str, int]:
    """Return a part of a text. The end is after the last character, as in the standard."""
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def _artifact(path: str) -> dict[str, str]:
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path), "uriBaseId": _ROOT}
