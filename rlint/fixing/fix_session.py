"""The texts of a run's files after each pass of fixes, and the edits so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.fixing import apply_fixes
from rlint.fixing.source_map import SourceMap
from rlint.run_data import Changed, FixId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rlint.findings import Finding, Problem
    from rlint.source.files import Source


class FixedTexts:
    """Starts from the files as they were read. `source_of` returns them; None for a file that must not
    change.
    """

    def __init__(self, source_of: Callable[[str], Source | None]) -> None:
        self._source_of = source_of
        self.now: dict[str, str] = {}
        """The current texts of the changed files, by name."""
        self.applied: list[tuple[FixId, Finding]] = []
        self.refused: dict[FixId, Problem] = {}
        """The fixes that would have broken a file, each with the problem."""
        self._ids: dict[int, FixId] = {}
        self._origins: dict[str, SourceMap] = {}
        self._parts: dict[str, list[Finding]] = {}

    def text_of(self, name: str) -> str | None:
        """Return the current text of a file; None if it must not change."""
        source = self._source_of(name)
        return self.now.get(name, source.text) if source is not None else None

    def names(self, name: str, findings: Iterable[Finding]) -> dict[FixId, Finding]:
        """Return the findings in the current text of a file, by the identities of their fixes."""
        if name not in self._origins:
            self._origins[name] = SourceMap(self.text_of(name) or "")
        named = self._origins[name].names(findings)
        self._ids.update((id(finding), each) for each, finding in named.items())
        return named

    def apply(self, chosen: Sequence[Finding], *, unsafe: bool) -> set[str]:
        """Apply, in one pass, the fixes of findings with identities; return the files that this changes. A
        fix that would break a file is left out in all of its files, and others are applied.
        """
        wanted = [finding for finding in chosen if self._ids[id(finding)] not in self.refused]
        done, refused = apply_fixes.sound_passes(self.text_of, wanted, self._mistake, unsafe=unsafe)
        self.refused.update((self._ids[id(finding)], problem) for finding, problem in refused)
        changed = {name for name, made in done.items() if made.text != self.text_of(name)}
        for name in sorted(changed):
            made = done[name]
            if name not in self._origins:
                self._origins[name] = SourceMap(self.text_of(name) or "")
            self._origins[name].record(made.edits, made.text)
            self.now[name] = made.text
            self._parts.setdefault(name, []).extend(made.findings)
            self.applied += ((self._ids[id(each)], each) for each in made.findings if each.path == name)
        return changed

    def _mistake(self, made: apply_fixes.Pass, name: str) -> Problem | None:
        """Return the problem of the text that a pass produced for a file."""
        source = self._source_of(name)
        problem = apply_fixes.check_parses(
            made.text, name, made.findings, was=source.text if source is not None else ""
        )
        return problem or (source.unwritable(made.text) if source is not None else None)

    def named(self, findings: Callable[[str], Iterable[Finding]]) -> dict[Finding, FixId]:
        """Return the fix identities of findings in the files examined."""
        found: dict[Finding, FixId] = {}
        for name, origin in self._origins.items():
            found.update((finding, each) for each, finding in origin.names(findings(name)).items())
        return found

    def changed(self) -> tuple[Changed, ...]:
        """Return the files whose text has changed, sorted by name."""
        found = []
        for name in sorted(self.now):
            source, having = self._source_of(name), tuple(self._parts[name])
            if source is not None and self.now[name] != source.text:
                others = {each for finding in having if finding.fix for each in finding.fix.files}
                others.update(finding.path for finding in having)
                found.append(Changed(source, self.now[name], having, frozenset(others - {name})))
        return tuple(found)
