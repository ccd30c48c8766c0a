"""Git's rules for ignored files, as far as files in a folder and in its repository define them.

Plain lines are matched here, and only others by `pathspec`: it takes 20 ms to load, a walk over 600 files 3.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.regex import regex
from rlint.source.files import read_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MOST_STARS = 3
_PLAIN = regex(r"\*?[\w.-]*\w[\w.-]*/?")

Decisions = Callable[[str], dict[str, bool]]
"""Known decisions for paths, given the rules: whether they are ignored."""


class IgnoreRules:
    """The `.gitignore` of a folder, and those of the folders above it."""

    def __init__(self, folder: str, lines: list[str], above: IgnoreRules | None, known: Decisions) -> None:
        self._folder = folder
        self._lines = lines
        self._above = above
        self.digest: str
        said = "\0".join([folder, *lines, above.digest if above is not None else ""])
        self.digest = hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()
        self._decisions = known(self.digest)

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether the absolute `path`, whose parent folders are not ignored, is ignored itself."""
        queried = path + os.sep if folder else path
        known = self._decisions.get(queried)
        if known is None:
            known = self._decisions[queried] = self._decide(path, folder=folder)
        return known

    def _decide(self, path: str, *, folder: bool) -> bool:
        relative = path[len(self._folder) :].lstrip(os.sep).replace(os.sep, "/")
        plain, others = self._sorted_out
        if plain.match(relative, folder=folder):
            return True
        queried = relative + "/" if folder else relative
        decision = self._spec.check_file(queried).include if others else None
        if decision is not None:
            return decision
        return self._above is not None and self._above.ignores(path, folder=folder)

    @cached_property
    def _sorted_out(self) -> tuple[_PlainLines, list[str]]:
        """Return the lines of plain forms, and all others. If a line negates another, the result depends on
        the order, and `pathspec` matches all of them.
        """
        lines = [line for line in self._lines if line and not line.startswith("#")]
        if any(line.startswith("!") for line in lines):
            return _PlainLines([]), lines
        plain = {line for line in lines if _PLAIN.fullmatch(line)}
        return _PlainLines(plain), [line for line in lines if line not in plain]

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec  # which takes longer to import than a walk

        _, lines = self._sorted_out
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):  # git skips a line that it cannot parse
            return GitIgnoreSpec.from_lines(filter(_understood, lines))


class _PlainLines:
    """Names (`build`, `dist/`) and suffixes (`*.so`) that are ignored in any folder. Most lines are of this
    form, and compiling an expression for each of them takes longer than the walk.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._names = frozenset(lines)
        endings = [line[1:] for line in self._names if line.startswith("*")]
        self._endings = tuple(endings)
        self._folder_endings = tuple(ending.rstrip("/") for ending in endings)

    def match(self, relative: str, *, folder: bool) -> bool:
        """Whether a path, or a folder that contains it, is ignored."""
        *above, name = relative.split("/")
        if any(self._matches_folder(part) for part in above):
            return True
        if folder:
            return self._matches_folder(name)
        return name in self._names or name.endswith(self._endings)

    def _matches_folder(self, name: str) -> bool:
        return name in self._names or f"{name}/" in self._names or name.endswith(self._folder_endings)


def is_repository(folder: str) -> bool:
    """Whether `folder` is the root of a git repository or work tree."""
    return os.path.exists(os.path.join(folder, ".git"))


def rules_in(folder: str, above: IgnoreRules | None, known: Decisions) -> IgnoreRules | None:
    """Return the rules for the content of `folder`, given those of its parent."""
    if is_repository(folder):
        above = _read(folder, os.path.join(folder, ".git", "info", "exclude"), None, known)
    return _read(folder, os.path.join(folder, ".gitignore"), above, known)


def rules_above(folder: str, stop: str, known: Decisions) -> IgnoreRules | None:
    """Return the rules in the parent of `folder`: up to the repository's root, else up to `stop`."""
    if is_repository(folder):
        return None
    chain: list[str] = []
    current = folder
    while (parent := os.path.dirname(current)) != current:
        chain.append(parent)
        current = parent
        if is_repository(parent):
            break
    else:
        below = stop.rstrip(os.sep) + os.sep
        chain = [each for each in chain if each == stop or each.startswith(below)]
    rules: IgnoreRules | None = None
    for each in reversed(chain):
        rules = rules_in(each, rules, known)
    if rules is not None and rules.ignores(folder, folder=True):
        return None  # the folder was named although it is ignored: check all of it
    return rules


def _read(folder: str, path: str, above: IgnoreRules | None, known: Decisions) -> IgnoreRules | None:
    text = read_text(path)
    lines = [line for line in (text or "").splitlines() if line.count("*") <= _MOST_STARS or _is_quick(line)]
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return above
    return IgnoreRules(folder, lines, above, known)


def _is_quick(line: str) -> bool:
    """Whether matching a line takes little time: each further star in one part of a path multiplies it. A
    line with many is ignored, so that more is checked and not less.
    """
    parts = line.split("/")
    return parts.count("**") <= _MOST_STARS and all(
        part.count("*") <= _MOST_STARS for part in parts if part != "**"
    )


def _understood(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
