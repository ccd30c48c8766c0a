"""Glob patterns for paths, with the same meaning as in ruff's settings.

`*` also crosses `/`. A pattern matches a file or folder by its name alone, or by its whole path below the
folder of its settings. `pathspec` supports no braces, and its `*` stops at `/`.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
from dataclasses import field
from pathlib import Path

from rlint.frozen import frozen
from rlint.regex import regex

_MOST_ALTERNATIVES = 1_000
_ANY_FOLDERS = regex(r"(^|/)(?:\*\*/)+")
_PLAIN_NAME = regex(r"(?!\.\.?$)[\w.-]+")


@frozen
class PathPatterns:
    """A set of patterns relative to one folder, compiled together."""

    patterns: tuple[str, ...]
    root: str
    _plain: frozenset[str] = field(init=False, repr=False, compare=False)
    _name: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _path: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # most patterns are the names of folders, and compiling takes longer than a walk
        plain = [pattern for pattern in self.patterns if _PLAIN_NAME.fullmatch(pattern)]
        others = [pattern for pattern in self.patterns if pattern not in plain]
        names = [_regex(pattern) for pattern in others if "/" not in pattern.rstrip("/")]
        paths = [_path_regex(pattern, self.root) for pattern in others]
        object.__setattr__(self, "_plain", frozenset(plain))
        object.__setattr__(self, "_name", re.compile("|".join(names), re.DOTALL) if names else None)
        object.__setattr__(self, "_path", re.compile("|".join(paths), re.DOTALL) if paths else None)

    def match(self, path: str) -> bool:
        """Whether a pattern matches the absolute `path` or its last part."""
        posix = _posix(path)
        name = posix.rpartition("/")[2]
        return (
            name in self._plain
            or (self._name is not None and self._name.fullmatch(name) is not None)
            or (self._path is not None and self._path.fullmatch(posix) is not None)
        )

    def match_any_part(self, path: str) -> bool:
        """Whether a pattern matches the absolute `path` or a folder above it, below the root."""
        posix, root = _posix(path), _posix(self.root)
        while len(posix) > len(root):
            if self.match(posix):
                return True
            posix = posix.rpartition("/")[0]
        return False


def check_pattern(pattern: str) -> str | None:
    """Return the error in a pattern, or None."""
    try:
        re.compile(_regex(pattern))
    except re.error as error:
        return str(error)
    return None


def _posix(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _path_regex(pattern: str, root: str) -> str:
    if Path(pattern).is_absolute():
        return _regex(_posix(pattern))
    while pattern.startswith("./"):
        pattern = pattern[2:]
    return re.escape(_posix(root).rstrip("/") + "/") + _regex(pattern)


def _regex(pattern: str) -> str:
    alternatives = _without_braces(pattern.rstrip("/") or pattern)
    nested = (_without_braces(_ANY_FOLDERS.sub(r"\1{,*/}", each)) for each in alternatives)
    unlike_shells = (each.replace("[^", "[!") for each in itertools.chain.from_iterable(nested))
    return "(?:" + "|".join(map(fnmatch.translate, unlike_shells)) + ")"


def _without_braces(text: str) -> list[str]:
    """Return all expansions of `{a,b}` in a pattern."""
    opened = _find(text, "{", 0)
    if opened < 0:
        return [text]
    parts, depth, start = [], 0, opened + 1
    for position in range(opened, len(text)):
        character = text[position]
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        if (character == "," and depth == 1) or depth == 0:
            parts.append(text[start:position])
            start = position + 1
        if depth == 0:
            found = [text[:opened] + part + text[start:] for part in parts]
            expanded = [each for one in found for each in _without_braces(one)]
            if len(expanded) > _MOST_ALTERNATIVES:
                raise re.error(f"its braces expand to more than {_MOST_ALTERNATIVES} patterns")
            return expanded
    raise re.error("a brace is not closed")


def _find(text: str, wanted: str, position: int) -> int:
    """Return the index of a character outside of square brackets; -1 if there is none."""
    while position < len(text):
        if text[position] == wanted:
            return position
        end = text.find("]", position + 2) if text[position] == "[" else -1
        position = max(position, end) + 1
    return -1
