"""Suppression comments, and adding them.

A comment applies to the whole statement (or the header of a compound one) that contains it. `rlint: ignore`
on a line of its own applies to the statement directly below it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from typing import TYPE_CHECKING

from rlint.frozen import mutable
from rlint.registry.engine_rules import ENGINE_CODES
from rlint.suppression.comments import read_layout
from rlint.suppression.directives import DirectiveKind, Directives, may_concern, read_directives
from rlint.suppression.unused import report_suppressions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rlint.findings import Finding
    from rlint.suppression.comments import Layout

_OWN_CODES = frozenset(own.code for own in ENGINE_CODES)


@mutable
class Suppressions:
    """The suppression comments of one file, and which of them were used."""

    _layout: Layout | None = None
    _directives: Directives = field(default_factory=Directives)

    @property
    def skip_file(self) -> bool:
        """Whether the file is to be skipped as a whole."""
        return self._directives.skip_file

    @property
    def is_empty(self) -> bool:
        """Whether the file has no such comments at all."""
        return self._layout is None

    def hides(self, finding: Finding) -> bool:
        """Whether a comment suppresses `finding`; every comment that does counts as used from now on."""
        used = [request.hides(finding) for request in self._directives.requests]
        return self.skip_file or any(used)

    def report(
        self, path: str, known_codes: Mapping[str, str], active_codes: Collection[str]
    ) -> list[Finding]:
        """Return the findings about the comments, after all findings were passed to `hides`.

        `known_codes` maps the code of every rule to its name. `active_codes` are those that this file was
        checked for, including the codes of these findings if they are selected.
        """
        if self.skip_file or self._layout is None or not _OWN_CODES & set(active_codes):
            return []
        return report_suppressions(
            path, self._layout.positions, self._directives, known_codes, frozenset(active_codes)
        )


def parse(text: str, families: Collection[str] | None = None, *, has_findings: bool = True) -> Suppressions:
    """Read the suppression comments of a Python text. A text without directives is not tokenised, nor, if
    `families` are given (the letters of the codes that matter), one with directives for other rules only; in
    a text without findings, comments that suppress everything are not read.
    """
    folded = text.lower()
    is_relevant = "noqa" in folded or "rlint" in folded
    if is_relevant and families is not None:
        is_relevant = may_concern(text, families, has_findings=has_findings)
    layout = read_layout(text) if is_relevant else None
    return Suppressions(layout, read_directives(layout)) if layout else Suppressions()


def add_noqa(text: str, findings: Sequence[Finding]) -> str:
    """Add `# noqa: CODE` to the statement of each finding that is not suppressed yet."""
    return add_comments(text, findings, DirectiveKind.NOQA)


def add_comments(text: str, findings: Sequence[Finding], kind: DirectiveKind) -> str:
    """Add a comment of one kind to the statement of each finding that is not suppressed yet.

    The comment is added to the finding's `noqa_line` or, if none is possible there (the line ends in a string
    or a backslash), to another line of the same statement. Codes are added to an existing list.
    """
    layout = read_layout(text)
    if layout is None:
        return text
    existing = Suppressions(layout, read_directives(layout))
    wanted: dict[int, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.code not in _OWN_CODES and not existing.hides(finding):
            line = _line_for_comment(layout, finding)
            if line is not None:
                wanted[line].add(finding.code)
    requests = existing._directives.requests
    lists = {request.comment.line: request for request in requests if request.kind is kind and request.items}
    positions = layout.positions
    for line in sorted(wanted, reverse=True):
        codes = ", ".join(sorted(wanted[line]))
        if line in lists:
            start = end = lists[line].items_end
            addition = f", {codes}"
        else:
            start = positions.line_start(line) + len(positions.line_text(line).rstrip())
            end = positions.line_end(line)
            addition = f"  # noqa: {codes}" if kind is DirectiveKind.NOQA else f"  # rlint: ignore[{codes}]"
        text = text[:start] + addition + text[end:]
    return text


def _line_for_comment(layout: Layout, finding: Finding) -> int | None:
    for line in range(finding.last_line, finding.first_line - 1, -1):
        if line not in layout.closed and layout.statement_at(line):
            return line
    statement = layout.statement_at(finding.last_line)
    return statement.last if statement and statement.last not in layout.closed else None
