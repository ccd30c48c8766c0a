"""The documents that are open in the editor, with their current text."""

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
    """Return the path of a `file:` URI; None for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    host = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    # A query or fragment is part of a name whose `?` or `#` the client did not escape.
    rest = "".join((f"?{parts.query}" if parts.query else "", f"#{parts.fragment}" if parts.fragment else ""))
    if os.name == "nt":
        from urllib.request import url2pathname  # slow to import, and needed only for drive letters

        return absolute(url2pathname(host + parts.path + rest))
    return absolute(unquote(host + parts.path + rest))


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A range of a text document: of a file, or of the cell of a notebook."""

    part: OpenDocument
    range: types.Range

    @property
    def location(self) -> types.Location:
        """Return the place as an LSP location."""
        return types.Location(self.part.uri, self.range)


class Checked(Protocol):
    """One version of a document that is checked as one text: a file, or a notebook of several cells.

    `source` is that text; `parts` are its text documents in the editor.
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
        """Return the notebook of `source`, if it is one."""

    @property
    def parts(self) -> Sequence[OpenDocument]:
        """Return its text documents, in order."""

    def part(self, uri: str) -> OpenDocument | None:
        """Return the text document with this URI."""

    def place(self, start: Position, end: Position) -> DocumentPlace | None:
        """Return the location of a span of `source` in the editor."""

    def line_place(self, line: int) -> DocumentPlace | None:
        """Return the range of a line of `source`, counted from 1, without surrounding whitespace."""

    def line_of(self, part: OpenDocument, line: int) -> int | None:
        """Return the line of `source`, counted from 1, for a line of a part, counted from 0."""

    def offset(self, part: OpenDocument, place: types.Position) -> int | None:
        """Return the offset in `source` of a position in a part."""

    def text_edits(self, edits: Iterable[Edit]) -> list[tuple[OpenDocument, list[types.TextEdit]]]:
        """Return edits of `source` as edits of the parts that they change."""

    def can_take(self, text: str) -> bool:
        """Whether edits of the parts can turn `source` into this text."""


class OpenDocument:
    """One version of an open text document. A change creates a new object. Without a version, it is a file
    that is not open.
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
        """Whether it is a Python program, saved or not."""
        scheme = urlsplit(self.uri).scheme
        if scheme == "file":
            return self.path is not None and self.path.suffix == ".py"
        return scheme == "untitled" and self.language == "python"

    @cached_property
    def source(self) -> str:
        """Return the program, without the byte-order mark that some clients keep in it."""
        # The mark would be a syntax error; a space in its place would be an indentation.
        mark = self.text.source.startswith(_BYTE_ORDER_MARK)
        return self.text.source[1:] if mark else self.text.source

    @property
    def begins_with_mark(self) -> bool:
        """Whether the client kept a byte-order mark in the text."""
        return len(self.source) != len(self.text.source)

    @property
    def parts(self) -> Sequence[OpenDocument]:
        """Return the document itself: a file is one document."""
        return (self,)

    def part(self, uri: str) -> OpenDocument | None:
        """Return itself, if it has this URI."""
        return self if unquote(uri) == unquote(self.uri) else None

    def place(self, start: Position, end: Position) -> DocumentPlace:
        """Return the location of a span of the program in the editor."""
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
        """Return the offset in the program of a position in the document."""
        return self.text.offset(place) - int(self.begins_with_mark) if part is self else None

    def text_edits(self, edits: Iterable[Edit]) -> list[tuple[OpenDocument, list[types.TextEdit]]]:
        """Return edits of the program, in the order that insertions at one position require."""
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
        """Return the document after changes, each of which refers to the result of the previous one."""
        source, encoding = self.text.source, self.text.encoding
        for change in changes:
            source = DocumentText(source, encoding).changed(change)
        return OpenDocument(self.uri, self.language, version, source, encoding)


class Documents:
    """All open documents, by URI, which clients escape in different ways. That of a cell returns its
    notebook.
    """

    def __init__(self) -> None:
        self._open: dict[str, Checked] = {}
        self._cells: dict[str, str] = {}

    def __iter__(self) -> Iterator[Checked]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Checked | None:
        """Return the newest version of an open document, by its own URI or that of one of its parts."""
        key = unquote(uri)
        return self._open.get(self._cells.get(key, key))

    def find(self, uri: str) -> tuple[Checked, OpenDocument] | None:
        """Return the text document with this URI, and the document that it is part of."""
        whole = self.get(uri)
        part = whole.part(uri) if whole is not None else None
        return (whole, part) if whole is not None and part is not None else None

    def at(self, path: Path, encoding: str) -> Checked | None:
        """Return the document at a path: as open in the editor, or else the file, if that can be read."""
        opened = (document for document in self if document.path == path and document.is_python)
        if (found := next(opened, None)) is not None:
            return found
        source = read_source(path, str(path))
        if not isinstance(source, Source) or source.notebook is not None:
            return None  # only the editor knows the URIs of a notebook's cells
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
        """Remove a document."""
        key = unquote(uri)
        self._forget_cells(key)
        self._open.pop(key, None)

    def texts(self) -> dict[Path, str]:
        """Return the texts in the editor, by file path."""
        return {
            document.path: document.source
            for document in self._open.values()
            if document.path is not None and document.is_python
        }

    def _forget_cells(self, key: str) -> None:
        before = self._open.get(key)
        for part in before.parts if before is not None else ():
            self._cells.pop(unquote(part.uri), None)
