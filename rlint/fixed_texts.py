"""The texts of a run's files as fixes have changed them, pass after pass, and what has changed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint import fixes
from rlint.origins import Origins
from rlint.runs import Changed, FixId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rlint.files import Source
    from rlint.findings import Finding, Problem


class FixedTexts:
    """Starts from the files as they were read. `source_of` gives them; None for what must not be changed."""

    def __init__(self, source_of: Callable[[str], Source | None]) -> None:
        self._source_of = source_of
        self.now: dict[str, str] = {}
        """The texts of the files that have changed, by name."""
        self.applied: list[tuple[FixId, Finding]] = []
        self.unparsable: dict[str, Problem] = {}
        """By name, the files that a fix would have broken. They stay as they are."""
        self._ids: dict[int, FixId] = {}
        self._origins: dict[str, Origins] = {}
        self._parts: dict[str, list[Finding]] = {}

    def text_of(self, name: str) -> str | None:
        """The text of a file as it is now; None where it must stay as it is."""
        source = self._source_of(name) if name not in self.unparsable else None
        return self.now.get(name, source.text) if source is not None else None

    def names(self, name: str, findings: Iterable[Finding]) -> dict[FixId, Finding]:
        """The findings in a file as it is now, by what their fixes are told by."""
        if name not in self._origins:
            self._origins[name] = Origins(self.text_of(name) or "")
        named = self._origins[name].names(findings)
        self._ids.update((id(finding), each) for each, finding in named.items())
        return named

    def apply(self, chosen: Sequence[Finding], *, unsafe: bool) -> set[str]:
        """Apply, in one pass, the fixes of findings that have names; return the files that this changes.
        Fixes that a file which must not change shares with others are left out there, too.
        """
        done = fixes.passes(self.text_of, chosen, unsafe=unsafe)
        while problems := self._mistakes(done):
            # each may be right without the others, as where two leave nothing of a block: those wait
            waiting = {
                id(finding)
                for name, problem in problems.items()
                if problem.is_bug
                for finding in _latter_half(done[name].findings)
            }
            chosen = [finding for finding in chosen if id(finding) not in waiting]
            if not waiting:
                self.unparsable.update(problems)
            done = fixes.passes(self.text_of, chosen, unsafe=unsafe)
        changed = {name for name, made in done.items() if made.text != self.text_of(name)}
        for name in sorted(changed):
            made = done[name]
            if name not in self._origins:
                self._origins[name] = Origins(self.text_of(name) or "")
            self._origins[name].record(made.edits, made.text)
            self.now[name] = made.text
            self._parts.setdefault(name, []).extend(made.findings)
            self.applied += ((self._ids[id(each)], each) for each in made.findings if each.path == name)
        return changed

    def _mistakes(self, done: dict[str, fixes.Pass]) -> dict[str, Problem]:
        """What is wrong with the texts that a pass has made, by the files' names."""
        found = {}
        for name, made in done.items():
            source = self._source_of(name)
            problem = fixes.check_parses(made.text, name, made.findings)
            problem = problem or (source.unwritable(made.text) if source is not None else None)
            if problem is not None:
                found[name] = problem
        return found

    def named(self, findings: Callable[[str], Iterable[Finding]]) -> dict[Finding, FixId]:
        """What the fixes of the findings are told by that are in files which were looked at."""
        found: dict[Finding, FixId] = {}
        for name, origin in self._origins.items():
            found.update((finding, each) for each, finding in origin.names(findings(name)).items())
        return found

    def changed(self) -> tuple[Changed, ...]:
        """The files that are another text now than they were, in order of their names."""
        found = []
        for name in sorted(self.now):
            source, having = self._source_of(name), tuple(self._parts[name])
            if source is not None and self.now[name] != source.text:
                others = {each for finding in having if finding.fix for each in finding.fix.files}
                others.update(finding.path for finding in having)
                found.append(Changed(source, self.now[name], having, frozenset(others - {name})))
        return tuple(found)


def _latter_half(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Nothing of a single one."""
    return findings[(len(findings) + 1) // 2 :]
