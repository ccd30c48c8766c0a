"""One version of an open notebook, and the mapping of positions in its text to its cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from rlint.findings import Edit, Position
from rlint.lsp.documents import DocumentPlace, OpenDocument, path_of
from rlint.notebook.masks import TornError
from rlint.notebook.notebook import Notebook
from rlint.notebook.view import CellView, cell_at
from rlint.parsing.positions import Positions
from rlint.source.line_diff import changes

JUPYTER = "jupyter-notebook"
INTERACTIVE = "interactive"
"""The interactive window of VS Code, whose cells are those that were run."""


@dataclass(frozen=True, slots=True)
class OpenCell:
    """A cell: its text document in the editor, and whether it contains code."""

    document: OpenDocument
    is_code: bool


class OpenNotebook:
    """One version of an open notebook. A change creates a new object.

    `source` is the text that `rlint.notebook` creates from its Python cells: they are checked as one program.
    """

    is_python = True

    def __init__(self, uri: str, version: int, cells: Sequence[OpenCell], metadata: object = None) -> None:
        self.uri = uri
        self.version: int | None = version
        self.path: Path | None = path_of(uri)
        self.cells = tuple(cells)
        self.metadata = metadata

    @cached_property
    def notebook(self) -> Notebook:
        """Return the notebook in the form in which rlint reads it from a file, from the editor's texts."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code" if cell.is_code else "markdown",
                "language": cell.document.language,
                "metadata": {},
                "source": cell.document.text.source,
            }
            for cell in self.cells
        ]
        content = {"cells": cells, "metadata": _kernel(self.metadata), "nbformat": 4}
        return Notebook(json.dumps(content), self.uri)

    @property
    def source(self) -> str:
        """Return the Python text of all cells."""
        return self.notebook.text

    @property
    def parts(self) -> Sequence[OpenDocument]:
        """Return the text documents of all cells."""
        return [cell.document for cell in self.cells]

    def part(self, uri: str) -> OpenDocument | None:
        """Return the cell with this URI."""
        wanted = unquote(uri)
        return next((part for part in self.parts if unquote(part.uri) == wanted), None)

    def with_cell(self, version: int, cell: OpenDocument) -> OpenNotebook:
        """Return the notebook with a newer version of one of its cells."""
        uri = unquote(cell.uri)
        cells = [
            OpenCell(cell, each.is_code) if unquote(each.document.uri) == uri else each for each in self.cells
        ]
        return OpenNotebook(self.uri, version, cells, self.metadata)

    # -- places --------------------------------------------------------------------------------

    @cached_property
    def _views(self) -> list[CellView]:
        return self.notebook.views(self.source)

    def place(self, start: Position, end: Position) -> DocumentPlace | None:
        """Return the location of a span of the text, in the cell in which it begins."""
        view = cell_at(start.line, self._views)
        if view is None:
            return None
        part, before = self.cells[view.index - 1].document, view.first_line - 1
        places = [part.text.place_of(Position(each.line - before, each.column)) for each in (start, end)]
        return DocumentPlace(part, types.Range(*places))

    def line_place(self, line: int) -> DocumentPlace | None:
        """Return the code of a line of the text, counted from 1."""
        view = cell_at(line, self._views)
        if view is None or line < view.first_line:
            return None
        part = self.cells[view.index - 1].document
        return DocumentPlace(part, part.text.line(line - view.first_line + 1))

    def line_of(self, part: OpenDocument, line: int) -> int | None:
        """Return the line of the text, counted from 1, for a line of a cell, counted from 0."""
        view = self._view_of(part)
        if view is None or not 0 <= line < len(part.text.lines):
            return None
        return view.first_line + line

    def offset(self, part: OpenDocument, place: types.Position) -> int | None:
        """Return the offset in the text of a position in a cell."""
        view = self._view_of(part)
        if view is None:
            return None
        within = Positions(part.text.source).position(part.text.offset(place))
        text = Positions(self.source)
        line = view.first_line + within.line - 1
        return min(text.line_start(line) + within.column - 1, text.line_end(line))

    def text_edits(self, edits: Iterable[Edit]) -> list[tuple[OpenDocument, list[types.TextEdit]]]:
        """Return edits of the text as edits of the cells that they change."""
        parts, done = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self.source[done : edit.start], edit.text]
            done = edit.end
        after = "".join([*parts, self.source[done:]])
        found = []
        for before, changed in zip(self._views, self.notebook.views(after), strict=True):
            if before.shown != changed.shown:
                part = self.cells[before.index - 1].document
                found.append((part, _differences(part, before.shown, changed.shown)))
        return found

    def can_take(self, text: str) -> bool:
        """Whether edits of the cells can turn `source` into this text: magics must not change."""
        try:
            self.notebook.rendered(text)
        except TornError:
            return False
        return True

    def _view_of(self, part: OpenDocument) -> CellView | None:
        uris = [unquote(each.uri) for each in self.parts]
        uri = unquote(part.uri)
        index = uris.index(uri) + 1 if uri in uris else 0
        return next((view for view in self._views if view.index == index), None)


def _differences(part: OpenDocument, before: str, after: str) -> list[types.TextEdit]:
    """Return the edits of a cell, whose line ends are normalised in both texts and may not be in the
    editor.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, old))]
    positions = Positions(before)
    newline = Positions(part.text.source).newline
    found = []
    for change in changes(old, new):
        ends = [starts[change.old_start], starts[change.old_end]]
        text = "".join(new[change.new_start : change.new_end]).replace("\n", newline)
        places = [part.text.place_of(positions.position(offset)) for offset in ends]
        found.append(types.TextEdit(types.Range(*places), text))
    return found


def _kernel(metadata: object) -> Any:
    """Return the kernel metadata of a notebook, which editors wrap in different ways."""
    found: Any = metadata
    for _ in range(3):
        if not isinstance(found, Mapping):
            return {}
        if "kernelspec" in found or "language_info" in found:
            return {key: found[key] for key in ("kernelspec", "language_info") if key in found}
        found = found.get("custom", found.get("metadata"))
    return {}
