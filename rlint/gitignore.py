"""The rules of git about ignored files, as far as files in a folder and in its repository state them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.files import read_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MOST_STARS = 3

Decisions = Callable[[str], dict[str, bool]]
"""What is known already of paths, given what tells the rules: whether they are ignored."""


class IgnoreRules:
    """The `.gitignore` that holds in a folder, and those of the folders above it."""

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
        asked = path + os.sep if folder else path
        known = self._decisions.get(asked)
        if known is None:
            known = self._decisions[asked] = self._decide(path, folder=folder)
        return known

    def _decide(self, path: str, *, folder: bool) -> bool:
        relative = path[len(self._folder) :].lstrip(os.sep).replace(os.sep, "/")
        decision = self._spec.check_file(relative + "/" if folder else relative).include
        if decision is not None:
            return decision
        return self._above is not None and self._above.ignores(path, folder=folder)

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec  # which takes longer to import than a walk takes

        try:
            return GitIgnoreSpec.from_lines(self._lines)
        except (ValueError, re.error):  # git passes over a line that it does not understand
            return GitIgnoreSpec.from_lines(filter(_understood, self._lines))


def is_repository(folder: str) -> bool:
    """Whether `folder` is the root of a git repository or work tree."""
    return os.path.exists(os.path.join(folder, ".git"))


def rules_in(folder: str, above: IgnoreRules | None, known: Decisions) -> IgnoreRules | None:
    """Return the rules for what lies in `folder`, given those of its parent."""
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
        return None  # the folder was named although it is ignored: look at all of it
    return rules


def _read(folder: str, path: str, above: IgnoreRules | None, known: Decisions) -> IgnoreRules | None:
    text = read_text(path)
    lines = [line for line in (text or "").splitlines() if line.count("*") <= _MOST_STARS or _is_quick(line)]
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return above
    return IgnoreRules(folder, lines, above, known)


def _is_quick(line: str) -> bool:
    """Whether matching a line takes no time to speak of: each further star in one part of a path multiplies
    it. A line with many is as good as no line, so that more is checked and not less.
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
