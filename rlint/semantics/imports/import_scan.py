"""What a glance at a file tells, without parsing it: what it imports, and what it is about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rlint.notebook.sources import source_of
from rlint.regex import regex
from rlint.semantics.imports.import_graph import import_statements, imported_by_name
from rlint.semantics.imports.relevance import speaks_of_learning
from rlint.source.files import most_bytes, read_regular
from rlint.syntax.import_statements import absolute_module

_NAMES = regex(rb"[\w.]+")
_WORD = regex(rb"\w+")


class ImportScan(NamedTuple):
    """The digest of a file's content and what its text tells by itself; plain data."""

    digest: str
    """"" for a file that cannot be read."""
    size: int
    """Bytes of Python in it."""
    imports: tuple[str, ...]
    """Dotted names that it may import, whatever its package; sorted."""
    relative: tuple[tuple[str, tuple[str, ...]], ...]
    """What `from ..module import name, name` names, with its dots."""
    words: str
    """All words in its import statements, in their order, once each, with blanks between."""
    speaks: bool
    """Whether it is about learning, as far as can be told without its package."""
    calls: int
    """Opening parentheses: the time that a file takes goes by its calls rather than by its length."""

    def imported_paths(self, package: str) -> set[str]:
        """Return the dotted names that the file may import as part of `package`."""
        found = set(self.imports)
        for source, members in self.relative:
            module = source.lstrip(".")
            found.update(_with_members(absolute_module(module, len(source) - len(module), package), members))
        return found - {""}

    def speaks_of_learning(self, imported: Collection[str]) -> bool:
        """Whether the file is about machine learning, given all that it may import."""
        return self.speaks or (bool(self.relative) and speaks_of_learning(b"", imported))


NOTHING = ImportScan("", 0, (), (), "", speaks=False, calls=0)
"""What is seen of a file that cannot be read."""


def glance_at(path: Path, content: bytes | None, *, is_code: bool = False) -> ImportScan:
    """Look at a file's content; None for one that cannot be read. `is_code` says that a notebook's content is
    the Python in it already.
    """
    if content is None:
        return NOTHING
    code = content if is_code else source_of(path, content)
    imports: set[str] = set()
    relative: dict[tuple[str, tuple[str, ...]], None] = {}
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
        b" ".join(words).decode("utf-8", "replace"),
        speaks_of_learning(code, imports),
        code.count(b"("),
    )


def read_file(path: Path) -> bytes | None:
    """Return the content of a file with Python; None for one that cannot be read."""
    return read_regular(path, most_bytes(path))


def glance_at_file(path: Path, read: Callable[[Path], bytes | None] = read_file) -> ImportScan:
    """Read a file and look at it."""
    return glance_at(path, read(path))


def glance_at_text(path: Path, text: str) -> ImportScan:
    """Look at a text that stands for a file's content; of a notebook, at the Python in it."""
    return glance_at(path, text.encode("utf-8", "surrogatepass"), is_code=True)


def _with_members(base: str, members: tuple[str, ...]) -> Iterator[str]:
    yield base
    for member in members:
        yield f"{base}.{member}" if base else member


def _dotted(text: bytes) -> Iterator[str]:
    for name in _NAMES.findall(text):
        yield name.decode("utf-8", "replace").strip(".")
