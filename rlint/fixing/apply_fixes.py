"""Apply fixes to text and write text to files: which edits are compatible, and an atomic write."""

from __future__ import annotations

import os
import stat
import warnings
from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from rlint.findings import Applicability, Problem, digest_of
from rlint.frozen import frozen
from rlint.parsing.grammar import NEWEST
from rlint.source.atomic_write import replace_file
from rlint.source.links import end_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlint.findings import Edit, Finding, OtherFileEdits
    from rlint.source.files import Source


def apply(text: str, findings: Sequence[Finding], *, unsafe: bool) -> tuple[str, tuple[Finding, ...]]:
    """Apply fixes as `one_pass` does; return the new text and the findings whose fixes are in it."""
    done = one_pass(text, findings, unsafe=unsafe)
    return done.text, done.findings


@frozen
class Pass:
    """The new text, the findings whose fixes are in it, and the edits that produced it, both in order of
    position.
    """

    text: str
    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]


def one_pass(text: str, findings: Sequence[Finding], *, unsafe: bool) -> Pass:
    """Apply in one pass the fixes that do not conflict; the rest wait for the next pass.

    The order of `findings` does not matter. A fix is applied whole or not at all; unsafe ones only if
    `unsafe`.
    """
    candidates = sorted((f for f in findings if _is_applicable(f, text, unsafe=unsafe)), key=_precedence)
    plan = _Plan()
    applied = tuple(finding for finding in candidates if plan.admits(_edits(finding)))
    edits = plan.edits()
    return Pass(_rendered(text, edits), applied, edits)


def passes(
    texts: Callable[[str], str | None], findings: Sequence[Finding], *, unsafe: bool
) -> dict[str, Pass]:
    """Apply fixes in one pass as `one_pass` does, to all files that they edit; by the files' names.

    `texts` returns the text of a file, None for a file that must not change. A fix of several files is
    applied in all of them, or in none if one of them must not change, has changed since the rule saw it, or
    has a conflicting fix; such fixes are applied first. The pass of a file lists all findings with edits in
    it.
    """
    files = _Files(texts)
    applicable = [finding for finding in findings if files.holds(finding, unsafe=unsafe)]
    plans: dict[str, _Plan] = {}
    applied: dict[str, list[Finding]] = {}
    several = {_parts(finding) for finding in applicable if finding.fix and finding.fix.other_edits}
    done: set[frozenset[tuple[str, tuple[Edit, ...]]]] = set()
    for finding in sorted(applicable, key=lambda f: (_parts(f) not in several, f.path, *_order(f))):
        parts = _parts(finding)
        for name, _ in parts:
            plans.setdefault(name, _Plan())
        if len(parts) > 1 and parts not in done and not all(plans[name].fits(own) for name, own in parts):
            continue
        if all(plans[name].admits(own) for name, own in sorted(parts, key=itemgetter(0))):
            done.add(parts)
            for name, _ in parts:
                applied.setdefault(name, []).append(finding)
    found = {}
    for name, having in sorted(applied.items()):
        edits = plans[name].edits()
        found[name] = Pass(_rendered(files.text(name) or "", edits), tuple(having), edits)
    return found


def sound_passes(
    texts: Callable[[str], str | None],
    findings: Sequence[Finding],
    mistake: Callable[[Pass, str], Problem | None],
    *,
    unsafe: bool,
) -> tuple[dict[str, Pass], list[tuple[Finding, Problem]]]:
    """Apply fixes in one pass as `passes` does, without those that would break a file, according to
    `mistake`, which is called with a pass and a file's name. Return the passes, and the fixes that break a
    file alone, each with the problem. Fixes that do so only together with others wait for the next pass.
    """
    chosen = list(findings)
    refused: list[tuple[Finding, Problem]] = []
    while True:
        done = passes(texts, chosen, unsafe=unsafe)
        conflicting: set[frozenset[tuple[str, tuple[Edit, ...]]]] = set()
        for name, made in done.items():
            if mistake(made, name) is None:
                continue
            wrong, alone = _first_wrong(name, made, texts, mistake, unsafe=unsafe)
            conflicting.add(_parts(wrong))
            if alone is not None:
                refused += ((each, alone) for each in chosen if each.fix and _parts(each) == _parts(wrong))
        if not conflicting:
            return done, refused
        chosen = [each for each in chosen if each.fix and _parts(each) not in conflicting]


def _first_wrong(
    name: str,
    made: Pass,
    texts: Callable[[str], str | None],
    mistake: Callable[[Pass, str], Problem | None],
    *,
    unsafe: bool,
) -> tuple[Finding, Problem | None]:
    """Return the first fix of a pass with which, after those before it, a file is broken; and the problem, if
    it breaks the file alone.
    """
    whole, broken = 0, len(made.findings)
    while broken - whole > 1:
        middle = (whole + broken) // 2
        part = passes(texts, made.findings[:middle], unsafe=unsafe).get(name)
        if part is None or mistake(part, name) is None:
            whole = middle
        else:
            broken = middle
    wrong = made.findings[broken - 1]
    alone = passes(texts, [wrong], unsafe=unsafe).get(name)
    return wrong, mistake(alone, name) if alone is not None else None


def check_parses(text: str, path: str, applied: Sequence[Finding] = (), *, was: str = "") -> Problem | None:
    """Return the problem if `text`, the result of the fixes `applied` in `path`, is no longer valid Python.
    If the running Python could not parse the text `was`, it need not parse `text`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            NEWEST.parse_as(was, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        codes = ", ".join(sorted({finding.code for finding in applied}))
        one = f" in line {applied[0].shown_start.line}" if len(applied) == 1 else ""
        blamed = f"the fix{'' if one else 'es'} of {codes}{one}" if codes else "a fix"
        what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        where = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return Problem(
            path,
            f"{blamed} would leave the file unparsable ({what}{where})",
            hint="the fix was not applied; this is a bug in rlint, please report it",
            is_bug=True,
        )
    return None


def write(source: Source, text: str) -> Problem | None:
    """Replace the file of `source` by `text` in one step; return the obstacle if that is not possible.

    The file keeps its mode, its owner if the system permits, its encoding and its byte-order mark. A symbolic
    link is kept: the file that it points to is replaced. Other hard links to the file keep the old text.
    """
    try:
        data = source.encode(text)
    except UnicodeEncodeError as error:
        return Problem(
            source.name,
            f"not written: its encoding, {source.encoding}, cannot encode the fix: {error.reason}",
        )
    try:
        target = source.path.resolve()
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            return Problem(source.name, "not written: it is no longer a regular file")
        if outside := end_outside(source.path):
            return Problem(
                source.name,
                f"not written: it is a symbolic link to a file outside its project, {outside}",
                hint="pass that file itself",
            )
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            return Problem(source.name, "not written: the file is read-only")
        replaced = replace_file(target, data, like=status, holding=source.raw)
    except (OSError, RuntimeError) as error:  # before Python 3.13, a loop of links is a RuntimeError
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        return Problem(source.name, f"not written: {reason}")
    if not replaced:
        return Problem(source.name, "not written: the file changed on disk since it was read")
    return None


class _Files:
    """The texts of the files that fixes edit."""

    def __init__(self, texts: Callable[[str], str | None]) -> None:
        self._texts = texts
        self._known: dict[str, str | None] = {}
        self._digests: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """Return the text of a file; None if it must not change."""
        if name not in self._known:
            self._known[name] = self._texts(name)
        return self._known[name]

    def holds(self, finding: Finding, *, unsafe: bool) -> bool:
        """Whether a fix can be applied in each of its files."""
        fix, text = finding.fix, self.text(finding.path)
        if fix is None or text is None or not _is_wanted(finding, unsafe=unsafe):
            return False
        return _fits_into(_edits(finding), text) and all(
            self._is_as_known(other) for other in fix.other_edits
        )

    def _is_as_known(self, other: OtherFileEdits) -> bool:
        text = self.text(other.path)
        if text is None:
            return False
        if other.path not in self._digests:
            self._digests[other.path] = digest_of(text)
        return self._digests[other.path] == other.digest and _fits_into(_in_order(other.edits), text)


def _is_applicable(finding: Finding, text: str, *, unsafe: bool) -> bool:
    several = finding.fix is not None and bool(finding.fix.other_edits)
    return not several and _is_wanted(finding, unsafe=unsafe) and _fits_into(_edits(finding), text)


def _is_wanted(finding: Finding, *, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.safety is Applicability.SAFE)


def _fits_into(edits: Sequence[Edit], text: str) -> bool:
    if all(text[edit.start : edit.end] == edit.text for edit in edits):
        return False  # nothing to do, also where there are no edits
    in_text = all(0 <= edit.start <= edit.end <= len(text) for edit in edits)
    return in_text and all(first.end <= second.start for first, second in pairwise(edits))


def _edits(finding: Finding) -> tuple[Edit, ...]:
    assert finding.fix is not None
    return _in_order(finding.fix.edits)


def _in_order(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    # Stable: several insertions of one fix at one place stay in the rule's order.
    return tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))


def _parts(finding: Finding) -> frozenset[tuple[str, tuple[Edit, ...]]]:
    """Return the edits of a fix by file. Several files may report the same fix."""
    assert finding.fix is not None
    others = [(other.path, _in_order(other.edits)) for other in finding.fix.other_edits]
    return frozenset([(finding.path, _edits(finding)), *others])


def _precedence(finding: Finding) -> tuple[object, ...]:
    edits = _edits(finding)
    # Shared edits (an import at the top) do not say where a fix belongs.
    own = [edit for edit in edits if not edit.shared] or list(edits)
    first = own[0].start
    span = max(edit.end for edit in own) - first
    # The rest only makes the order total.
    exact = [(edit.start, edit.end, edit.text, edit.shared) for edit in edits]
    return (first, span, finding.code, finding.start, finding.end, exact, finding.message)


def _order(finding: Finding) -> tuple[object, ...]:
    others = sorted(
        (path, [(edit.start, edit.end, edit.text, edit.shared) for edit in edits])
        for path, edits in _parts(finding)
    )
    return (_precedence(finding), others)


class _Plan:
    """The edits chosen so far: replacements that do not overlap, and insertions by offset."""

    def __init__(self) -> None:
        self._fixes: set[frozenset[Edit]] = set()
        self._replacements: list[tuple[int, int, Edit]] = []
        self._places: list[int] = []
        self._insertions: dict[int, list[Edit]] = {}
        self._shared: set[Edit] = set()
        self._alone: set[int] = set()
        """The positions of insertions that allow no other insertion."""

    def admits(self, edits: tuple[Edit, ...]) -> bool:
        """Add the edits of one fix to the plan, if none of them conflicts."""
        if frozenset(edits) in self._fixes:
            return True  # one fix may belong to several findings
        wanted = [edit for edit in edits if not self._has(edit)]
        if any(self._collides(edit) for edit in wanted):
            return False
        self._fixes.add(frozenset(edits))
        for edit in wanted:
            if edit.start == edit.end:
                if edit.start not in self._insertions:
                    insort(self._places, edit.start)
                self._insertions.setdefault(edit.start, []).append(edit)
                if edit.shared:
                    self._shared.add(edit)
                else:
                    self._alone.add(edit.start)
            else:
                insort(self._replacements, (edit.start, edit.end, edit))
        return True

    def fits(self, edits: tuple[Edit, ...]) -> bool:
        """Whether the edits overlap with no other edit."""
        return not any(self._collides(edit) for edit in edits if not self._has(edit))

    def edits(self) -> tuple[Edit, ...]:
        """Return all planned edits, in order of place."""
        replacements = [edit for _, _, edit in self._replacements]
        insertions = [edit for place in self._places for edit in _together(self._insertions[place])]
        return tuple(sorted([*insertions, *replacements], key=lambda edit: (edit.start, edit.end)))

    def _has(self, edit: Edit) -> bool:
        return edit in self._shared

    def _collides(self, edit: Edit) -> bool:
        if edit.start == edit.end:
            before = bisect_left(self._replacements, edit.start, key=lambda item: item[0]) - 1
            inside = before >= 0 and edit.start < self._replacements[before][1]
            # edits that several fixes may share (constants after the imports) can be in any order
            together = edit.shared and edit.start not in self._alone
            return inside or (edit.start in self._insertions and not together)
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
    """Join the insertions at one position, without the leading blank lines of shared ones."""
    found = insertions[:1]
    for edit in insertions[1:]:
        below_another = edit.shared and found[-1].shared and found[-1].text.endswith(("\n", "\r"))
        found.append(replace(edit, text=edit.text.lstrip("\r\n")) if below_another else edit)
    return found
