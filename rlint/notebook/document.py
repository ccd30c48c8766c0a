"""Locations of a notebook's code in its JSON text.

The text is walked once; everything except code is skipped by the decoder of the standard library, so that
megabytes of outputs cost little. Nothing is ever written from decoded data: everything except code is kept
unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError
from typing import Any

from rlint.frozen import frozen
from rlint.regex import regex

_SPACE = regex(r"[ \t\n\r]*")
_FOREIGN = regex(
    r"ir|julia|bash|z?sh|javascript|deno|rust|octave|matlab|xcpp|i?ruby|scala|perl|haskell|go|\.net|sql"
)
"""Prefixes of kernel names for other languages, for notebooks without other metadata."""
_OLDEST, _NEWEST = 2, 4


class NotebookError(Exception):
    """A text that is not a notebook; `offset` is the position of the error."""

    def __init__(self, message: str, offset: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.offset = offset
        self.hint = hint


@frozen
class Token:
    """A string in the JSON text: its span, quotes included, and its value."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class RawCell:
    """A cell, counted from 1. `start` and `end` are the span of its source, with the brackets of a list."""

    index: int
    kind: str | None = None
    id: str | None = None
    language: str | None = None
    start: int = -1
    end: int = -1
    is_list: bool = False
    tokens: tuple[Token, ...] = ()

    @property
    def source(self) -> str:
        """Return the source of the cell, with its line ends."""
        return "".join(token.text for token in self.tokens)


@dataclass(slots=True)
class Document:
    """A notebook: its JSON text, its cells, and the language of its kernel if it is named."""

    text: str
    cells: list[RawCell] = field(default_factory=list)
    language: str | None = None


def read_document(text: str) -> Document:
    """Return the cells in the JSON text of a notebook; raise NotebookError if it is not one."""
    try:
        return _Reader(text).read()
    except JSONDecodeError as error:
        raise NotebookError(f"is not a notebook: {error.msg}", error.pos, _reason(text)) from error
    except RecursionError as error:
        raise NotebookError("is not a notebook: its values are nested too deeply") from error


def _reason(text: str) -> str | None:
    if not text.strip():
        return "the file is empty"
    if text.startswith("version https://git-lfs"):
        return "it is a Git LFS pointer: `git lfs pull` fetches the file"
    if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE):
        return "it holds conflict markers of an unfinished merge"
    return None


class _Reader:
    """Walks over the text; `at` is the current position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._decoder = json.JSONDecoder()
        self._found = Document(text)

    def read(self) -> Document:
        metadata: Any = {}
        version: Any = None
        has_cells = False
        self._space()
        if self.text[self.at : self.at + 1] != "{":
            self._value()  # raises the JSON error, if there is one
            raise NotebookError("is not a notebook: it is not a JSON object", 0)
        for key in self._members():
            if key == "metadata":
                metadata = self._value()
            elif key == "nbformat":
                version = self._value()
            elif key == "cells":
                has_cells = True
                self._found.cells = []  # of two values with the same key, the last counts
                self._cells()
            elif key == "worksheets":
                has_cells = True
                self._found.cells = []
                for _ in self._items("`worksheets`"):
                    for inner in self._members():
                        if inner == "cells":
                            self._cells()
                        else:
                            self._value()
            else:
                self._value()
        self._space()
        if self.at != len(self.text):
            raise JSONDecodeError("Extra data", self.text, self.at)
        if not has_cells:
            raise NotebookError("is not a notebook: it has no `cells`")
        if isinstance(version, int) and not _OLDEST <= version <= _NEWEST:
            raise NotebookError(
                f"is a notebook of format {version}; rlint reads formats {_OLDEST} to {_NEWEST}"
            )
        self._found.language = _language(metadata)
        return self._found

    # -- cells -----------------------------------------------------------------------------------

    def _cells(self) -> None:
        for _ in self._items("`cells`"):
            self._cell(RawCell(len(self._found.cells) + 1))

    def _cell(self, cell: RawCell) -> None:
        if self.text[self.at : self.at + 1] != "{":
            raise NotebookError(f"is damaged: cell {cell.index} is not an object", self.at)
        begin = self.at
        for key in self._members():
            if key in ("source", "input") and self.text[self.at : self.at + 1] in ("[", '"'):
                self._source(cell)
            elif key in ("source", "input"):
                begin = self.at
                cell.start = -1
                self._value()
            else:
                value = self._value()
                if key == "cell_type" and isinstance(value, str):
                    cell.kind = value
                elif key == "id" and isinstance(value, str):
                    cell.id = value
                elif key == "language" and isinstance(value, str):
                    cell.language = value
                elif key == "metadata" and cell.language is None:
                    cell.language = _cell_language(value)
        if cell.kind == "code" and cell.start < 0:
            raise NotebookError(
                f"is damaged: the source of cell {cell.index} is neither a string nor a list of lines", begin
            )
        self._found.cells.append(cell)

    def _source(self, cell: RawCell) -> None:
        cell.start = self.at
        cell.is_list = self.text[self.at] == "["
        if cell.is_list:
            tokens = []
            for _ in self._items("its source"):
                if self.text[self.at : self.at + 1] != '"':
                    raise NotebookError(f"is damaged: a line of cell {cell.index} is not a string", self.at)
                tokens.append(self._token())
            cell.tokens = tuple(tokens)
        else:
            cell.tokens = (self._token(),)
        cell.end = self.at

    # -- JSON ------------------------------------------------------------------------------------

    def _space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def _value(self) -> Any:
        value, self.at = self._decoder.raw_decode(self.text, self.at)
        return value

    def _token(self) -> Token:
        start = self.at
        text: str = self._value()
        return Token(start, self.at, text)

    def _members(self) -> Iterator[str]:
        """Yield the keys of the object that starts here. Consumers move `at` past each value."""
        self._open("{", "an object")
        while not self._closed("}"):
            if self.text[self.at : self.at + 1] != '"':
                raise JSONDecodeError("Expecting property name enclosed in double quotes", self.text, self.at)
            key = self._token().text
            self._space()
            if self.text[self.at : self.at + 1] != ":":
                raise JSONDecodeError("Expecting ':' delimiter", self.text, self.at)
            self.at += 1
            self._space()
            yield key
            self._comma("}")

    def _items(self, what: str) -> Iterator[None]:
        """Yield the items of the list that starts here. Consumers move `at` past each item."""
        self._open("[", f"{what}, which must be a list")
        while not self._closed("]"):
            yield
            self._comma("]")

    def _open(self, bracket: str, what: str) -> None:
        if self.text[self.at : self.at + 1] != bracket:
            raise NotebookError(f"is damaged: {what}, is missing here", self.at)
        self.at += 1
        self._space()

    def _closed(self, bracket: str) -> bool:
        closed = self.text[self.at : self.at + 1] == bracket
        self.at += closed
        return closed

    def _comma(self, bracket: str) -> None:
        self._space()
        character = self.text[self.at : self.at + 1]
        if character == bracket:
            return
        if character != ",":
            raise JSONDecodeError("Expecting ',' delimiter", self.text, self.at)
        self.at += 1
        self._space()
        if self.text[self.at : self.at + 1] == bracket:
            raise JSONDecodeError("Illegal trailing comma", self.text, self.at)


def _language(metadata: Any) -> str | None:
    kernel = _get(metadata, "kernelspec")
    for named in (_get(kernel, "language"), _get(_get(metadata, "language_info"), "name")):
        if isinstance(named, str) and named:
            return named.lower()
    name = _get(kernel, "name")
    return name if isinstance(name, str) and _FOREIGN.match(name.lower()) else None


def _cell_language(metadata: Any) -> str | None:
    for named in (
        _get(_get(metadata, "vscode"), "languageId"),
        _get(_get(metadata, "polyglot_notebook"), "kernelName"),
        _get(_get(metadata, "dotnet_interactive"), "language"),
        _get(metadata, "kernel"),
    ):
        if isinstance(named, str) and named:
            return named
    return None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
