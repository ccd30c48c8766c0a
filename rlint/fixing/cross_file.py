"""Permission for fixes that other files can prevent: those that edit several files, and those that remove a
name.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.parsing.positions import Positions
from rlint.suppression import suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from rlint.findings import Edit, Finding, Fix
    from rlint.run_data import FileResult
    from rlint.suppression.suppressions import Suppressions


class CrossFilePermits:
    """Examines the other files before a fix is offered.

    `codes` are the rules that each file of the run is checked for, None for files that are only read. `names`
    are all files that are read. `text_of` returns the text of each, None if it cannot be read.
    """

    def __init__(
        self,
        codes: Mapping[str, frozenset[str] | None],
        names: Collection[str],
        text_of: Callable[[str], str | None],
        *,
        respects_comments: bool,
    ) -> None:
        self._codes = codes
        self._names = names
        self._text_of = text_of
        self._respects_comments = respects_comments
        self._texts: dict[str, str | None] = {}
        self._comments: dict[str, tuple[Suppressions, Positions]] = {}

    def checked(self, result: FileResult) -> FileResult:
        """Return the result with the permitted fixes; findings of other fixes are kept without a fix."""
        findings = tuple(
            finding
            if finding.fix is None or self._permits(finding, finding.fix)
            else replace(finding, fix=None)
            for finding in result.findings
        )
        return result if findings == result.findings else replace(result, findings=findings)

    def _permits(self, finding: Finding, fix: Fix) -> bool:
        if not fix.other_edits and fix.takes_away is None:
            return True
        edits = {finding.path: fix.edits, **{other.path: other.edits for other in fix.other_edits}}
        return all(self._may_change(name, own, finding) for name, own in edits.items()) and (
            fix.takes_away is None or self._takes_all(fix.takes_away, edits)
        )

    def _may_change(self, name: str, edits: Sequence[Edit], finding: Finding) -> bool:
        """Whether a file is checked for the same rules, and contains no comment that suppresses such
        findings.
        """
        if finding.code not in (self._codes.get(name) or ()) or self._text(name) is None:
            return False
        if not self._respects_comments:
            return True
        comments, positions = self._comments_of(name)
        if comments.skip_file:
            return False
        for edit in edits:
            place = positions.position(edit.start)
            line = place.line
            there = replace(finding, path=name, start=place, end=place, first_line=line, last_line=line)
            if comments.hides(there):
                return False
        return True

    def _takes_all(self, word: str, edits: Mapping[str, Sequence[Edit]]) -> bool:
        """Whether the edits rename every occurrence of a name in all files, to a name that none of the
        changed files uses.
        """
        for name in self._names:
            text = self._text(name)
            own = edits.get(name, ())
            if text is None or _places(word, text) != sorted(edit.start for edit in own):
                return False
            if any(_places(new, text) for new in {edit.text for edit in own}):
                return False
        return True

    def _text(self, name: str) -> str | None:
        if name not in self._texts:
            self._texts[name] = self._text_of(name)
        return self._texts[name]

    def _comments_of(self, name: str) -> tuple[Suppressions, Positions]:
        if name not in self._comments:
            text = self._text(name) or ""
            self._comments[name] = suppressions.parse(text), Positions(text)
        return self._comments[name]


def _places(word: str, text: str) -> list[int]:
    if word not in text:
        return []
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
