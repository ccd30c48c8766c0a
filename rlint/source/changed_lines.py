"""Lines of files that have changed since a revision: committed, staged, unstaged and untracked ones."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.parsing.positions import Positions
from rlint.source.files import Source, read_regular, source_from_text
from rlint.source.git import Repository, top_of
from rlint.source.line_diff import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Finding
    from rlint.run_data import Target


class ChangedLines:
    """The lines of a run's files that differ from a revision; for a branch, from the merge base.

    Raises RlintError if there is no repository or no such revision.
    """

    def __init__(self, revision: str, targets: Sequence[Target], start: Path) -> None:
        self.revision = revision
        self._start = top_of(Path(os.path.realpath(start)))
        self._repositories: dict[Path, _Past] = {}
        self._tops: dict[Path, Path | None] = {}
        self._old: dict[str, str | None] = {}
        """The earlier text of each changed file; None for a new one."""
        if not targets and self._start is not None:
            self._past_of(self._start)  # reports what is wrong with the revision
        for target in targets:
            path = Path(os.path.realpath(target.path))
            raw = _content(target, path)
            top = self._top_of(path.parent)
            if top is None:
                raise RlintError(
                    f"`--since {revision}`: {target.name} is not in a git repository; "
                    "omit the option to check all lines"
                )
            past = self._past_of(top)
            if raw is None or not past.is_changed(path, raw):
                continue
            self._old[target.name] = past.text_of(path)

    def __contains__(self, name: str) -> bool:
        """Whether a file has changed at all."""
        return name in self._old

    def kept(self, name: str, text: str, findings: Sequence[Finding]) -> list[Finding]:
        """Return those findings in a file's text whose place or statement contains a changed line."""
        if name not in self._old or not findings:
            return []
        old = self._old[name]
        if old is None:
            return list(findings)
        lines = _changed(old, text)
        return [
            finding
            for finding in findings
            if _has_between(
                lines, min(finding.first_line, finding.start.line), max(finding.last_line, finding.end.line)
            )
        ]

    def _top_of(self, folder: Path) -> Path | None:
        if folder not in self._tops:
            self._tops[folder] = top_of(folder)
        return self._tops[folder]

    def _past_of(self, top: Path) -> _Past:
        if top not in self._repositories:
            self._repositories[top] = self._find_past(top)
        return self._repositories[top]

    def _find_past(self, top: Path) -> _Past:
        repository = Repository(top)
        outer = self._start if self._start is not None and self._start in top.parents else None
        if outer is not None:
            link = self._submodule_commit(repository, outer)
            if link is not None:
                return _Past(repository, link or None)
        base = repository.base(self.revision)
        if base is None and outer is None:
            raise RlintError(_unknown(self.revision, repository))
        return _Past(repository, base)

    def _submodule_commit(self, repository: Repository, start: Path) -> str | None:
        """Return the commit of a submodule in the enclosing repository; "" if that is not known here.

        None for a repository that is not a submodule.
        """
        top = self._top_of(repository.top.parent)
        if top is None or (top != start and start not in top.parents):
            return None
        outer = self._past_of(top)
        path = repository.top.relative_to(top).as_posix()
        entry = outer.tree.get(path)
        if entry is not None and entry.is_submodule:
            return entry.identity if repository.has_commit(entry.identity) else ""
        return "" if path in outer.repository.submodules else None


class _Past:
    """A repository at a commit; at none, if everything in it is new."""

    def __init__(self, repository: Repository, commit: str | None) -> None:
        self.repository = repository
        self._commit = commit
        self.tree = repository.tree(commit) if commit else {}

    def is_changed(self, path: Path, raw: bytes) -> bool:
        """Whether the content of a file differs from that at the commit."""
        entry = self.tree.get(self._former(path))
        if entry is None:
            return True
        hashed = hashlib.sha1 if len(entry.identity) == 40 else hashlib.sha256
        header = b"blob %d\0" % len(raw)
        return hashed(header + raw, usedforsecurity=False).hexdigest() != entry.identity

    def text_of(self, path: Path) -> str | None:
        """Return the text of a file at the commit; None if it did not exist, or was not text."""
        entry = self.tree.get(self._former(path))
        if entry is None or entry.is_submodule:
            return None
        source = source_from_text(self.repository.content(entry.identity), path.name, path)
        return source.text if isinstance(source, Source) else None

    def _former(self, path: Path) -> str:
        shown = path.relative_to(self.repository.top).as_posix()
        return shown if shown in self.tree else self._renamed.get(shown, shown)

    @cached_property
    def _renamed(self) -> dict[str, str]:
        return self.repository.renamed(self._commit) if self._commit else {}


def _content(target: Target, path: Path) -> bytes | None:
    if target.source is not None:
        return target.source.raw
    return read_regular(path)


def _changed(old: str, new: str) -> list[int]:
    """Return the numbers of the lines of `new` that are not in `old`, ascending."""
    return [
        line
        for change in changes(_lines(old), _lines(new))
        for line in range(change.new_start + 1, change.new_end + 1)
    ]


def _lines(text: str) -> list[str]:
    """Return all lines without their ends: git may store other ones than a system writes."""
    positions = Positions(text)
    return [positions.line_text(number) for number in range(1, len(positions.starts) + 1)]


def _has_between(lines: list[int], first: int, last: int) -> bool:
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= last


def _unknown(revision: str, repository: Repository) -> str:
    message = f"`--since {revision}`: unknown git revision in {repository.top}"
    if repository.is_shallow():
        return f"{message}; the repository is a shallow clone: fetch its history (`git fetch --unshallow`)"
    return f"{message}; `git branch --all` and `git tag` list the revisions"
