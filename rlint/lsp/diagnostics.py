"""Conversion of findings to diagnostics of an editor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import attrs
from lsprotocol import types

from rlint.evidence import recorded
from rlint.evidence.impact import Saving, impact_of, saving_of
from rlint.findings import Confidence, Finding, Heat, Position, Problem, Related
from rlint.lsp.documents import Checked, DocumentPlace, OpenDocument
from rlint.lsp.text import DocumentText
from rlint.registry import catalogue
from rlint.registry.engine_rules import UNUSED_SUPPRESSION

if TYPE_CHECKING:
    from rlint.lsp.chains import ChainPlace

SOURCE = "rlint"
_SEVERITIES = {
    Heat.HOT: types.DiagnosticSeverity.Warning,
    Heat.WARM: types.DiagnosticSeverity.Information,
    Heat.COLD: types.DiagnosticSeverity.Information,
}


class Wording:
    """Texts of findings for one client: information that it cannot show otherwise is added to the message."""

    def __init__(self, capabilities: types.ClientCapabilities) -> None:
        text = capabilities.text_document
        # A client that pulls diagnostics declares its abilities under `diagnostic`.
        kinds = [text.publish_diagnostics, text.diagnostic] if text else []
        self._related = any(kind and kind.related_information for kind in kinds)
        self._linked = any(kind and kind.code_description_support for kind in kinds)
        tags = [kind.tag_support.value_set for kind in kinds if kind and kind.tag_support]
        self._tags = {tag for each in tags for tag in each}

    @property
    def links(self) -> bool:
        """Whether the client shows a link to the page of a rule."""
        return self._linked

    def finding(
        self, document: Checked, finding: Finding, places: Sequence[ChainPlace], page: str | None
    ) -> tuple[OpenDocument, types.Diagnostic] | None:
        """Return the diagnostic of a finding, and the text document that it belongs to. `places` are those of
        its heat chain, `page` is the URL of its rule's page. None if it is in no text document.
        """
        where = place_of(document, finding)
        if where is None:
            return None
        tags = [types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_SUPPRESSION.code else []
        links = [_chain_link(document, place) for place in places] if self._related else []
        links += [_further(document, place) for place in finding.related] if self._related else []
        related = [link for link in links if link is not None]
        lines = [finding.statement]
        impact = impact_of(finding, _saving_of_rule(finding.code))
        if impact is not None and impact.basis:
            lines.append(f"impact: {impact.level}: {impact.basis}")
        if finding.chain and not (self._related and places):
            lines.append(f"why hot: {' → '.join(finding.chain)}")
        if finding.advice:
            lines.append(f"help: {finding.advice}")
        diagnostic = types.Diagnostic(
            range=where.range,
            message="\n".join(lines),
            severity=types.DiagnosticSeverity.Hint if tags else _severity(finding),
            code=finding.code,
            code_description=types.CodeDescription(page) if page and self._linked else None,
            source=SOURCE,
            tags=[tag for tag in tags if tag in self._tags] or None,
            related_information=related or None,
        )
        return where.part, diagnostic

    def problem(self, document: OpenDocument, problem: Problem) -> types.Diagnostic:
        """Return the diagnostic of a problem with reading a file or cell, such as a syntax error."""
        start = document.text.place_of(Position(problem.line or 1, problem.column or 1))
        line = document.text.line(problem.line or 1)
        end = (
            line.end
            if line.end.character > start.character
            else types.Position(start.line, start.character + 1)
        )
        message = problem.message + (f"\nhelp: {problem.hint}" if problem.hint else "")
        return types.Diagnostic(
            types.Range(start, end), message, severity=types.DiagnosticSeverity.Error, source=SOURCE
        )


@lru_cache(maxsize=256)
def _saving_of_rule(code: str) -> Saving | None:
    """Return the measured gain of a rule, read when it first reports a finding."""
    entry = next((entry for entry in catalogue.catalogue() if entry.code == code), None)
    return saving_of(recorded.of(entry)) if entry is not None and entry.fixtures is not None else None


def place_of(document: Checked, finding: Finding) -> DocumentPlace | None:
    """Return the range of a finding in the document it was found in."""
    return document.place(finding.start, finding.end)


def moved(
    diagnostics: Iterable[types.Diagnostic], before: DocumentText, after: DocumentText
) -> list[types.Diagnostic]:
    """Return the diagnostics of a text at their positions in a later version that cannot be checked: those on
    lines before and after the change.
    """
    old, new = before.lines, after.lines
    same = _common(old, new)
    tail = _common(old[same:][::-1], new[same:][::-1])
    found = []
    for diagnostic in diagnostics:
        first, last = diagnostic.range.start.line, diagnostic.range.end.line
        by = 0 if last < same else len(new) - len(old)
        if last >= same and first < len(old) - tail:
            continue
        place = types.Range(
            types.Position(first + by, diagnostic.range.start.character),
            types.Position(last + by, diagnostic.range.end.character),
        )
        found.append(attrs.evolve(diagnostic, range=place))
    return found


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    number = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        number += 1
    return number


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    """Return the severity of a finding; findings that are not certain are not warnings."""
    if finding.confidence is Confidence.POSSIBLE:
        return types.DiagnosticSeverity.Hint
    if finding.confidence is Confidence.LIKELY:
        return types.DiagnosticSeverity.Information
    return _SEVERITIES[finding.heat]


def _further(document: Checked, place: Related) -> types.DiagnosticRelatedInformation | None:
    """Return a further place of a finding. Rules name places in the finding's own file."""
    where = document.place(place.start, place.end)
    return types.DiagnosticRelatedInformation(where.location, place.message) if where else None


def _chain_link(document: Checked, place: ChainPlace) -> types.DiagnosticRelatedInformation | None:
    if place.path == document.path:
        where = document.line_place(place.line)
        return types.DiagnosticRelatedInformation(where.location, place.text) if where else None
    start = types.Position(place.line - 1, 0)
    return types.DiagnosticRelatedInformation(
        types.Location(place.path.as_uri(), types.Range(start, start)), place.text
    )
