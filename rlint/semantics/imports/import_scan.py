"""Scan of a file without parsing it: its imports, and whether it is about machine learning."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rlint.notebook.sources import source_of
from rlint.regex import regex
from rlint.semantics.imports.import_graph import (
    import_statements,
    imported_by_name,
    loads_by_computed_name,
)
from rlint.semantics.imports.relevance import is_about_learning
from rlint.source.files import most_bytes, read_regular
from rlint.syntax.import_statements import absolute_module

_NAMES = regex(rb"[\w.]+")
_WORD = regex(rb"\w+")
_STARTS = regex(rb"^(?:if __name__\b|for |while |with |[A-Za-z_][\w.]*\()", re.MULTILINE)
_TRAINS = (b".backward(", b".learn(", b".minimize(", b".apply_gradients(")


class ImportScan(NamedTuple):
    """The digest of a file's content and what its text shows by itself; plain data."""

    digest: str
    """"" for an unreadable file."""
    size: int
    """Bytes of Python in it."""
    imports: tuple[str, ...]
    """Dotted names that it may import, whatever its package; sorted."""
    relative: tuple[tuple[str, tuple[str, ...]], ...]
    """The names in `from ..module import name, name`, with its dots."""
    stars: tuple[str, ...]
    """The modules of `from module import *`, with their dots."""
    words: str
    """All words in its import statements, in order, once each, separated by blanks."""
    mentions_learning: bool
    """Whether it is about machine learning, as far as that can be determined without its package."""
    calls: int
    """Number of opening parentheses: analysis time depends on the number of calls rather than on the
    length.
    """
    loads: bool = False
    """Whether it may get modules whose names are known only at run time."""
    starts: bool = False
    """Whether something happens when it is run: a block for scripts, a loop or a call at its top level."""
    trains: bool = False
    """Whether it names a method that takes gradient steps."""

    def imported_paths(self, package: str) -> set[str]:
        """Return the dotted names that the file may import as part of `package`."""
        found = set(self.imports)
        for source, members in self.relative:
            module = source.lstrip(".")
            found.update(_with_members(absolute_module(module, len(source) - len(module), package), members))
        return found - {""}

    def is_about_learning(self, imported: Collection[str]) -> bool:
        """Whether the file is about machine learning, given all that it may import."""
        return self.mentions_learning or (bool(self.relative) and is_about_learning(b"", imported))


NOTHING = ImportScan("", 0, (), (), (), "", mentions_learning=False, calls=0)
"""The scan of an unreadable file."""


def glance_at(path: Path, content: bytes | None, *, is_code: bool = False) -> ImportScan:
    """Scan a file's content; None for an unreadable one. `is_code` says that a notebook's content is already
    extracted Python.
    """
    if content is None:
        return NOTHING
    code = content if is_code else source_of(path, content)
    imports: set[str] = set()
    relative: dict[tuple[str, tuple[str, ...]], None] = {}
    stars: dict[str, None] = {}
    words: dict[bytes, None] = {}
    for match in import_statements(code):
        source, members, modules = match.groups()
        for part in (source, members, modules):
            if part:
                words.update(dict.fromkeys(_WORD.findall(part)))
        if modules is not None:
            imports.update(_dotted(modules))
            continue
        named = source.decode("utf-8", "replace")
        if b"*" in members:
            stars[named] = None
        if named.startswith("."):
            relative[named, tuple(_dotted(members))] = None
        else:
            imports.update(_with_members(named, tuple(_dotted(members))))
    for module in imported_by_name(code):
        if module.startswith("."):
            relative[module, ()] = None
        else:
            imports.add(module)
    return ImportScan(
        hashlib.sha256(content).hexdigest(),
        len(code),
        tuple(sorted(imports)),
        tuple(relative),
        tuple(stars),
        b" ".join(words).decode("utf-8", "replace"),
        is_about_learning(code, imports),
        code.count(b"("),
        loads_by_computed_name(code),
        _STARTS.search(code) is not None,
        any(word in code for word in _TRAINS),
    )


def read_file(path: Path) -> bytes | None:
    """Return the content of a Python file; None for an unreadable one."""
    return read_regular(path, most_bytes(path))


def glance_at_file(path: Path, read: Callable[[Path], bytes | None] = read_file) -> ImportScan:
    """Read a file and scan it."""
    return glance_at(path, read(path))


def glance_at_text(path: Path, text: str) -> ImportScan:
    """Scan a text in place of a file's content; of a notebook, the Python in it."""
    return glance_at(path, text.encode("utf-8", "surrogatepass"), is_code=True)


def _with_members(base: str, members: tuple[str, ...]) -> Iterator[str]:
    yield base
    for member in members:
        yield f"{base}.{member}" if base else member


def _dotted(text: bytes) -> Iterator[str]:
    for name in _NAMES.findall(text):
        yield name.decode("utf-8", "replace").strip(".")
