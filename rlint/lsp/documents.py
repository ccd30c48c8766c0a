"""The documents that the editor has open, as they stand there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from rlint.file_paths import absolute
from rlint.lsp.text import DocumentText
from rlint.source.files import Source, read_source

_BYTE_ORDER_MARK = "\ufeff"


def path_of(uri: str) -> Path | None:
    """The path that a `file:` URI names; None for any other."""
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


class OpenDocument:
    """One version of an open document. A change makes another object of it. Without a version, it is a file
    that is not open.
    """

    def __init__(self, uri: str, language: str, version: int | None, source: str, encoding: str) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.path = path_of(uri)
        self.text = DocumentText(source, encoding)

    @cached_property
    def is_python(self) -> bool:
        """Is it a program that rlint reads: from a file, or not saved yet?"""
        scheme = urlsplit(self.uri).scheme
        if scheme == "file":
            return self.path is not None and self.path.suffix == ".py"
        return scheme == "untitled" and self.language == "python"

    @cached_property
    def source(self) -> str:
        """The program, without the byte-order mark that some clients leave in it."""
        # The mark would be a syntax error; a space in its place would be an indentation.
        mark = self.text.source.startswith(_BYTE_ORDER_MARK)
        return self.text.source[1:] if mark else self.text.source

    @property
    def begins_with_mark(self) -> bool:
        """Did the client leave a byte-order mark in the text?"""
        return len(self.source) != len(self.text.source)

    def changed(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> OpenDocument:
        """The document after changes, of which each refers to what the one before has left."""
        source, encoding = self.text.source, self.text.encoding
        for change in changes:
            source = DocumentText(source, encoding).changed(change)
        return OpenDocument(self.uri, self.language, version, source, encoding)


class Documents:
    """All open documents, by their URIs, which clients do not always escape alike."""

    def __init__(self) -> None:
        self._open: dict[str, OpenDocument] = {}

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> OpenDocument | None:
        """The newest version of an open document."""
        return self._open.get(unquote(uri))

    def at(self, path: Path, encoding: str) -> OpenDocument | None:
        """The document that a path leads to: what stands in the editor, or else in the file, if that can be
        read.
        """
        opened = (document for document in self if document.path == path and document.is_python)
        if (found := next(opened, None)) is not None:
            return found
        source = read_source(path, str(path))
        if not isinstance(source, Source):
            return None
        return OpenDocument(path.as_uri(), "python", None, source.text, encoding)

    def put(self, document: OpenDocument) -> None:
        """Open a document, or replace it by a newer version."""
        self._open[unquote(document.uri)] = document

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._open.pop(unquote(uri), None)

    def texts(self) -> dict[Path, str]:
        """What stands in the editor, by the paths of the files."""
        return {
            document.path: document.source
            for document in self._open.values()
            if document.path is not None and document.is_python
        }
