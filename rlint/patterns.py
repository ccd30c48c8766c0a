"""Glob patterns over paths, with the meaning that they have in the settings of ruff.

`*` also crosses `/`. A pattern matches a file or folder by its name alone, or by its whole path
below the folder of the settings that it stands in.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PathPatterns:
    """A set of patterns relative to one folder, compiled together."""

    patterns: tuple[str, ...]
    root: str
    _name: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _path: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [_regex(pattern) for pattern in self.patterns if "/" not in pattern.rstrip("/")]
        paths = [_path_regex(pattern, self.root) for pattern in self.patterns]
        object.__setattr__(self, "_name", re.compile("|".join(names) or r"(?!)", re.DOTALL))
        object.__setattr__(self, "_path", re.compile("|".join(paths) or r"(?!)", re.DOTALL))

    def match(self, path: str) -> bool:
        """Whether a pattern matches the absolute `path` or its last part."""
        posix = _posix(path)
        name = posix.rpartition("/")[2]
        return bool(self._name.fullmatch(name) or self._path.fullmatch(posix))

    def match_any_part(self, path: str) -> bool:
        """Whether a pattern matches the absolute `path` or a folder below the root that it lies in."""
        posix, root = _posix(path), _posix(self.root)
        while len(posix) > len(root):
            if self.match(posix):
                return True
            posix = posix.rpartition("/")[0]
        return False


def absolute(path: str | Path) -> Path:
    """Return `path` from the root, without `..` and, unlike `Path.resolve`, without following links."""
    return Path(os.path.abspath(path))


def check_pattern(pattern: str) -> str | None:
    """Return what is wrong with a pattern, or None."""
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
    text = pattern.rstrip("/") or pattern
    parts: list[str] = []
    depth = position = 0
    while position < len(text):
        character = text[position]
        if text.startswith("**/", position) and (position == 0 or text[position - 1] == "/"):
            parts.append("(?:.*/)?")
            position += 3
            continue
        end = text.find("]", position + 2) if character == "[" else -1
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif end > 0:
            inner = text[position + 1 : end].replace("\\", r"\\")
            parts.append("[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]")
            position = end
        elif character == "{":
            depth += 1
            parts.append("(?:")
        elif character == "}" and depth:
            depth -= 1
            parts.append(")")
        elif character == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(character))
        position += 1
    return "(?:" + "".join(parts) + ")"
