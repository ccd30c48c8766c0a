"""The rules of git about ignored files, as far as files in a folder and in its repository state them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from rlint.files import read_text

_MOST_STARS = 3


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The `.gitignore` that holds in a folder, and those of the folders above it."""

    folder: str
    spec: GitIgnoreSpec
    above: IgnoreRules | None

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether the absolute `path`, whose parent folders are not ignored, is ignored itself."""
        rules: IgnoreRules | None = self
        while rules is not None:
            relative = path[len(rules.folder) :].lstrip(os.sep).replace(os.sep, "/")
            decision = rules.spec.check_file(relative + "/" if folder else relative).include
            if decision is not None:
                return decision
            rules = rules.above
        return False


def is_repository(folder: str) -> bool:
    """Whether `folder` is the root of a git repository or work tree."""
    return os.path.exists(os.path.join(folder, ".git"))


def rules_in(folder: str, above: IgnoreRules | None) -> IgnoreRules | None:
    """Return the rules for what lies in `folder`, given those of its parent."""
    if is_repository(folder):
        above = _read(folder, os.path.join(folder, ".git", "info", "exclude"), None)
    return _read(folder, os.path.join(folder, ".gitignore"), above)


def rules_above(folder: str, stop: str) -> IgnoreRules | None:
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
        rules = rules_in(each, rules)
    if rules is not None and rules.ignores(folder, folder=True):
        return None  # the folder was named although it is ignored: look at all of it
    return rules


def _read(folder: str, path: str, above: IgnoreRules | None) -> IgnoreRules | None:
    text = read_text(path)
    lines = [line for line in (text or "").splitlines() if line.count("*") <= _MOST_STARS or _is_quick(line)]
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return above
    try:
        return IgnoreRules(folder, GitIgnoreSpec.from_lines(lines), above)
    except ValueError:  # git passes over a line that it does not understand
        return IgnoreRules(folder, GitIgnoreSpec.from_lines(filter(_understood, lines)), above)


def _is_quick(line: str) -> bool:
    """Whether matching a line takes no time to speak of: each further star in one part of a path multiplies
    it. A line with many is as good as no line, so that more is checked and not less.
    """
    parts = line.split("/")
    return parts.count("**") <= _MOST_STARS and all(
        part.count("*") <= _MOST_STARS for part in parts if part != "**"
    )


def _understood(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
