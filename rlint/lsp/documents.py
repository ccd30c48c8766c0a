"""The documents that the editor has open, as they stand there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from rlint.file_paths import absolute
from rlint.findings import Edit, Position
from rlint.lsp.text import DocumentText
from rlint.source.files import Source, read_source

if TYPE_CHECKING:
    from rlint.notebook.notebook import Notebook

_BYTE_ORDER_MARK = "\ufeff"


def path_of(uri: str) -> Path | None:
    """Return the path that a `file:` URI names; None for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    host = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    # A query or fragment is part of a name whose `?` or `#` the client forgot to escape.
    rest = "".join((f"?{parts.query}" if parts.query else "", f"#{parts.fragment}" if parts.fragment else ""))
    if os.name == "nt":
        from urllib.request import url2pathname  # slow to import, and needed for drives alone

        return absolute(url2pathname(host + parts.path + rest))
    return absolute(unquote(host + parts.path + rest))


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A range of a text document: of a file, or of the cell of a notebook."""

    part: OpenDocument
    range: types.Range

    @property
    def location(self) -> types.Location:
        """Return the place as the protocol names it."""
        return types.Location(self.part.uri, self.range)


class Checked(Protocol):
    """One version of something that is checked as one text: a file, or a notebook of several cells.

    `source` is that text; `parts` are the text documents that the editor shows of it.
    """

    uri: str
    version: int | None
    path: Path | None

    @property
    def source(self) -> str:
        """Return the Python text that is checked."""

    @property
    def is_python(self) -> bool:
        """Whether rlint reads it."""

    @property
    def notebook(self) -> Notebook | None:
        """Return the notebook that `source` stands for, if it is one."""

    @property
    def parts(self) -> Sequence[OpenDocument]:
        """Return the text documents that it is made of, in their order."""

    def part(self, uri: str) -> OpenDocument | None:
        """Return the text document with this URI."""

    def place(self, start: Position, end: Position) -> DocumentPlace | None:
        """Return where a span of `source` stands in the editor."""

    def line_place(self, line: int) -> DocumentPlace | None:
        """Return the code of a line of `source`, counted from 1, without the space around it."""

    def line_of(self, part: OpenDocument, line: int) -> int | None:
        """Return the line of `source`, counted from 1, in which a line of a part stands, counted from 0."""

    def offset(self, part: OpenDocument, place: types.Position) -> int | None:
        """Return the offset in `source` of a place in a part."""

    def text_edits(self, edits: Iterable[Edit]) -> list[tuple[OpenDocument, list[types.TextEdit]]]:
        """Return edits of `source` as edits of the parts that they change."""

    def can_take(self, text: str) -> bool:
        """Whether the parts can be changed so that `source` becomes this text."""


class OpenDocument:
    """One version of an open text document. A change makes another object of it. Without a version, it is a
    file that is not open.
    """

    notebook: Notebook | None = None

    def __init__(self, uri: str, language: str, version: int | None, source: str, encoding: str) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.path = path_of(uri)
        self.text = DocumentText(source, encoding)

    @cached_property
    def is_python(self) -> bool:
        """Whether it is a program that rlint reads, from a file or not saved yet."""
        scheme = urlsplit(self.uri).scheme
        if scheme == "file":
            return self.path is not None and self.path.suffix == ".py"
        return scheme == "untitled" and self.language == "python"

    @cached_property
    def source(self) -> str:
        """Return the program, without the byte-order mark that some clients leave in it."""
        # The mark would be a syntax error; a space in its place would be an indentation.
        mark = self.text.source.startswith(_BYTE_ORDER_MARK)
        return self.text.source[1:] if mark else self.text.source

    @property
    def begins_with_mark(self) -> bool:
        """Whether the client kept a byte-order mark in the text."""
        return len(self.source) != len(self.text.source)

    @property
    def parts(self) -> Sequence[OpenDocument]:
        """Return a file is shown as one document."""
        return (self,)

    def part(self, uri: str) -> OpenDocument | None:
        """Return itself, if it has this URI."""
        return self if unquote(uri) == unquote(self.uri) else None

    def place(self, start: Position, end: Position) -> DocumentPlace:
        """Return where a span of the program stands in the editor."""
        start, end = (
            replace(each, column=each.column + 1) if self.begins_with_mark and each.line == 1 else each
            for each in (start, end)
        )
        return DocumentPlace(self, types.Range(self.text.place_of(start), self.text.place_of(end)))

    def line_place(self, line: int) -> DocumentPlace:
        """Return the code of a line, counted from 1."""
        return DocumentPlace(self, self.text.line(line))

    def line_of(self, part: OpenDocument, line: int) -> int | None:
        """Return a line of the document, counted from 0, as one counted from 1."""
        return line + 1 if part is self and 0 <= line < len(self.text.lines) else None

    def offset(self, part: OpenDocument, place: types.Position) -> int | None:
        """Return the offset in the program of a place in the document."""
        return self.text.offset(place) - int(self.begins_with_mark) if part is self else None

    def text_edits(self, edits: Iterable[Edit]) -> list[tuple[OpenDocument, list[types.TextEdit]]]:
        """Return edits of the program, in the order in which insertions at one place must stand."""
        mark = int(self.begins_with_mark)
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        return [
            (
                self,
                [
                    types.TextEdit(self.text.range(edit.start + mark, edit.end + mark), edit.text)
                    for edit in ordered
                ],
            )
        ]

    def can_take(self, text: str) -> bool:  # noqa: ARG002 - a file can hold any text
        """Whether the document can become this text."""
        return True

    def changed(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> OpenDocument:
        """Return the document after changes, of which each refers to what the one before has left."""
        source, encoding = self.text.source, self.text.encoding
        for change in changes:
            source = DocumentText(source, encoding).changed(change)
        return OpenDocument(self.uri, self.language, version, source, encoding)


class Documents:
    """All that is open, by URIs, which clients do not always escape alike. That of a cell leads to its
    notebook.
    """

    def __init__(self) -> None:
        self._open: dict[str, Checked] = {}
        self._cells: dict[str, str] = {}

    def __iter__(self) -> Iterator[Checked]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Checked | None:
        """Return the newest version of what is open, by its own URI or that of one of its parts."""
        key = unquote(uri)
        return self._open.get(self._cells.get(key, key))

    def find(self, uri: str) -> tuple[Checked, OpenDocument] | None:
        """Return the text document with this URI, and what it is a part of."""
        whole = self.get(uri)
        part = whole.part(uri) if whole is not None else None
        return (whole, part) if whole is not None and part is not None else None

    def at(self, path: Path, encoding: str) -> Checked | None:
        """Return the document at a path: what stands in the editor, or else in the file, if that is read."""
        opened = (document for document in self if document.path == path and document.is_python)
        if (found := next(opened, None)) is not None:
            return found
        source = read_source(path, str(path))
        if not isinstance(source, Source) or source.notebook is not None:
            return None  # of a notebook, the editor would have to say how it calls its cells
        return OpenDocument(path.as_uri(), "python", None, source.text, encoding)

    def put(self, document: Checked) -> None:
        """Open a document, or replace it by a newer version."""
        key = unquote(document.uri)
        self._forget_cells(key)
        self._open[key] = document
        for part in document.parts:
            if part is not document:
                self._cells[unquote(part.uri)] = key

    def close(self, uri: str) -> None:
        """Forget a document."""
        key = unquote(uri)
        self._forget_cells(key)
        self._open.pop(key, None)

    def texts(self) -> dict[Path, str]:
        """Return what stands in the editor, by the paths of the files."""
        return {
            document.path: document.source
            for document in self._open.values()
            if document.path is not None and document.is_python
        }

    def _forget_cells(self, key: str) -> None:
        before = self._open.get(key)
        for part in before.parts if before is not None else ():
            self._cells.pop(unquote(part.uri), None)
