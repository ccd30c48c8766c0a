"""Fixes into text, and text into files: which edits go together, and a write that loses nothing."""

from __future__ import annotations

import ast
import os
import stat
import warnings
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rlint.atomic import replace_file
from rlint.findings import Problem, Safety

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.files import Source
    from rlint.findings import Edit, Finding


def apply(text: str, findings: Sequence[Finding], *, unsafe: bool) -> tuple[str, tuple[Finding, ...]]:
    """Apply fixes as `one_pass` does; return the new text and the findings whose fixes are in it."""
    done = one_pass(text, findings, unsafe=unsafe)
    return done.text, done.findings


@dataclass(frozen=True, slots=True)
class Pass:
    """The new text, the findings whose fixes are in it in order of place, and the edits that made it, in
    order of place.
    """

    text: str
    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]


def one_pass(text: str, findings: Sequence[Finding], *, unsafe: bool) -> Pass:
    """Apply in one pass the fixes that do not get into each other's way; the rest wait for the next.

    The order of `findings` does not matter. A fix is applied whole or not at all; unsafe ones only if
    `unsafe`.
    """
    candidates = sorted((f for f in findings if _is_applicable(f, text, unsafe=unsafe)), key=_precedence)
    plan = _Plan()
    applied = tuple(finding for finding in candidates if plan.admits(_edits(finding)))
    edits = plan.edits()
    return Pass(_rendered(text, edits), applied, edits)


def check_parses(text: str, path: str, applied: Sequence[Finding] = ()) -> Problem | None:
    """Return the problem if `text`, what the fixes of `applied` made of `path`, is no Python any more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        codes = ", ".join(sorted({finding.code for finding in applied}))
        blamed = f"the fixes of {codes}" if codes else "a fix"
        what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        where = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return Problem(
            path,
            f"{blamed} would leave the file unparsable ({what}{where}); it was left as it was",
            hint="this is a bug in rlint, please report it",
            is_bug=True,
        )
    return None


def write(source: Source, text: str) -> Problem | None:
    """Replace the file of `source` by `text` in one step; return what kept it from being done.

    The file keeps its mode, its owner where the system permits, its encoding and its byte-order
    mark. A symbolic link stays one: the file it leads to is replaced. Other hard links to the file
    keep the old text.
    """
    try:
        data = source.encode(text)
    except UnicodeEncodeError as error:
        return Problem(
            source.name, f"not written: its encoding, {source.encoding}, cannot hold it: {error.reason}"
        )
    try:
        target = source.path.resolve()
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            return Problem(source.name, "not written: it is no regular file any more")
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            return Problem(source.name, "not written: the file is read-only")
        replaced = replace_file(target, data, like=status, holding=source.raw)
    except (OSError, RuntimeError) as error:  # before Python 3.13, a loop of links is a RuntimeError
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        return Problem(source.name, f"not written: {reason}")
    if not replaced:
        return Problem(source.name, "not written: the file changed on disk since it was read")
    return None


def _is_applicable(finding: Finding, text: str, *, unsafe: bool) -> bool:
    fix = finding.fix
    if fix is None or not (unsafe or fix.safety is Safety.SAFE):
        return False
    if all(text[edit.start : edit.end] == edit.text for edit in fix.edits):
        return False  # nothing to do, also where there are no edits
    edits = _edits(finding)
    in_text = all(0 <= edit.start <= edit.end <= len(text) for edit in edits)
    return in_text and all(first.end <= second.start for first, second in pairwise(edits))


def _edits(finding: Finding) -> tuple[Edit, ...]:
    assert finding.fix is not None
    # Stable: several insertions of one fix at one place stay in the rule's order.
    return tuple(sorted(finding.fix.edits, key=lambda edit: (edit.start, edit.end)))


def _precedence(finding: Finding) -> tuple[object, ...]:
    edits = _edits(finding)
    # What a fix shares with others (an import at the top) says nothing about where it belongs.
    own = [edit for edit in edits if not edit.shared] or list(edits)
    first = own[0].start
    span = max(edit.end for edit in own) - first
    # The rest is there only to make the order total.
    exact = [(edit.start, edit.end, edit.text, edit.shared) for edit in edits]
    return (first, span, finding.code, finding.start, finding.end, exact, finding.message)


class _Plan:
    """The edits chosen so far: replacements that do not overlap, and insertions by offset."""

    def __init__(self) -> None:
        self._fixes: set[frozenset[Edit]] = set()
        self._replacements: list[tuple[int, int, Edit]] = []
        self._places: list[int] = []
        self._insertions: dict[int, list[Edit]] = {}

    def admits(self, edits: tuple[Edit, ...]) -> bool:
        """Take the edits of one fix into the plan, if none of them collides."""
        if frozenset(edits) in self._fixes:
            return True  # several findings may be mended by one and the same fix
        wanted = [edit for edit in edits if not self._has(edit)]
        if any(self._collides(edit) for edit in wanted):
            return False
        self._fixes.add(frozenset(edits))
        for edit in wanted:
            if edit.start == edit.end:
                if edit.start not in self._insertions:
                    insort(self._places, edit.start)
                self._insertions.setdefault(edit.start, []).append(edit)
            else:
                insort(self._replacements, (edit.start, edit.end, edit))
        return True

    def edits(self) -> tuple[Edit, ...]:
        """All planned edits, in order of place."""
        replacements = [edit for _, _, edit in self._replacements]
        insertions = [edit for place in self._places for edit in _together(self._insertions[place])]
        return tuple(sorted([*insertions, *replacements], key=lambda edit: (edit.start, edit.end)))

    def _has(self, edit: Edit) -> bool:
        return edit.shared and edit in self._insertions.get(edit.start, ())

    def _collides(self, edit: Edit) -> bool:
        if edit.start == edit.end:
            before = bisect_left(self._replacements, edit.start, key=lambda item: item[0]) - 1
            inside = before >= 0 and edit.start < self._replacements[before][1]
            others = self._insertions.get(edit.start, [])
            # what several fixes may need (constants below the imports) can stand together in any order
            together = edit.shared and all(other.shared for other in others)
            return inside or bool(others and not together)
        before = bisect_left(self._replacements, edit.end, key=lambda item: item[0]) - 1
        overlaps = before >= 0 and edit.start < self._replacements[before][1]
        return overlaps or bisect_right(self._places, edit.start) < bisect_left(self._places, edit.end)


def _rendered(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (text[done : edit.start], edit.text)
        done = edit.end
    return "".join([*parts, text[done:]])


def _together(insertions: list[Edit]) -> list[Edit]:
    """Insertions at one place, without the blank lines that each of the shared ones would begin with."""
    found = insertions[:1]
    for edit in insertions[1:]:
        below_another = edit.shared and found[-1].shared and found[-1].text.endswith(("\n", "\r"))
        found.append(replace(edit, text=edit.text.lstrip("\r\n")) if below_another else edit)
    return found
