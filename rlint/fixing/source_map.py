"""Stable fix identities: a fix is identified by its position in the original source.

A fix of a later pass is in a text that earlier fixes have changed. Its position is mapped back through their
edits, so that the same fix has the same identity in every run that leaves some of the others out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from rlint.parsing.positions import Positions
from rlint.run_data import FixId

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rlint.findings import Edit, Finding


class SourceMap:
    """Maps positions in one file back through the passes that have changed it."""

    def __init__(self, text: str) -> None:
        self._first = Positions(text)
        self._now = self._first
        self._passes: list[_Pass] = []

    def record(self, edits: Sequence[Edit], text: str) -> None:
        """Record a pass that produced `text` with `edits`, in order of position and without overlaps."""
        self._passes.append(_Pass(edits))
        self._now = Positions(text)

    def names(self, findings: Iterable[Finding]) -> dict[FixId, Finding]:
        """Return the findings in the current text, by the identities of their fixes."""
        seen: Counter[tuple[int, str]] = Counter()
        named = {}
        for finding in sorted(findings, key=lambda finding: finding.sort_key):
            offset = self._now.line_start(finding.start.line) + finding.start.column - 1
            for each in reversed(self._passes):
                offset = each.before(offset)
            place = self._first.position(offset)
            ordinal = seen[offset, finding.code]
            seen[offset, finding.code] += 1
            named[FixId(finding.path, place.line, place.column, finding.code, ordinal)] = finding
        return named


def taken_along(
    first: Mapping[FixId, Finding], fixed: Collection[FixId], left: Collection[FixId]
) -> tuple[list[Finding], set[FixId]]:
    """Return which of the first findings have disappeared without being fixed themselves, and which of the
    fixed or remaining ones did not exist at first.

    A finding that a fix has moved within its statement is neither: of each rule in a file, as many findings
    as possible are matched.
    """
    removed = [name for name in first if name not in fixed and name not in left]
    new = [name for name in sorted({*fixed, *left}) if name not in first]
    moved = Counter((name.path, name.code) for name in removed) & Counter(
        (name.path, name.code) for name in new
    )
    kept_removed, kept_new = Counter(moved), Counter(moved)
    found = []
    for name in removed:
        kept_removed[name.path, name.code] -= 1
        if kept_removed[name.path, name.code] < 0:
            found.append(first[name])
    brought = set()
    for name in new:
        kept_new[name.path, name.code] -= 1
        if kept_new[name.path, name.code] < 0:
            brought.add(name)
    return found, brought


class _Pass:
    """The edits of one pass, as spans in the old and in the new text."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._old = [(edit.start, edit.end) for edit in edits]
        growth = accumulate((len(edit.text) - (edit.end - edit.start) for edit in edits), initial=0)
        moved = list(zip(edits, growth, strict=False))
        self._new = [(edit.start + by, edit.start + by + len(edit.text)) for edit, by in moved]
        self._starts = [start for start, _ in self._new]

    def before(self, offset: int) -> int:
        """Return the position of an offset of the new text before the pass; for inserted text, the start of
        its edit.
        """
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        if offset < self._new[number][1]:
            return self._old[number][0]
        return self._old[number][1] + offset - self._new[number][1]
