"""A notebook as one Python text, and a changed text as a notebook again.

The text contains the Python cells in order, each below a line with a name that occurs nowhere else in the
notebook. Everything in them that is not Python is replaced by stand-ins (see magics.py). So the text can be
parsed, checked and changed like a module, each change belongs to exactly one cell, and everything else in the
notebook stays the same, byte for byte.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from rlint.findings import Cell, Problem
from rlint.frozen import frozen
from rlint.notebook.document import Document, NotebookError, RawCell, read_document
from rlint.notebook.magics import present
from rlint.notebook.masks import Masks, TornError, free_marker
from rlint.notebook.strings import RawLine, StringStyle, lines_of_cell
from rlint.notebook.view import CellView, split
from rlint.notebook.written import written
from rlint.parsing.parse import parse
from rlint.regex import regex

_LINE_END = regex(r"\r\n|\r")
_PYTHON = frozenset({"python", "ipython", "python2", "python3", "py", "pyspark"})


@frozen
class CodeCell:
    """A Python cell: its text in the notebook, and its text with stand-ins."""

    raw: RawCell
    presented: str
    pinned: int


class Notebook:
    """A notebook in JSON (NotebookError for other text). `name` is for `problems`."""

    def __init__(self, text: str, name: str) -> None:
        self.document: Document = read_document(text)
        python = [] if self.is_foreign else [c for c in self.document.cells if _is_python(c)]
        self.masks = Masks(free_marker(cell.source for cell in python))
        self.cells: dict[int, CodeCell] = {}
        self.problems: list[Problem] = []
        parts: list[str] = []
        for raw in python:
            cell = present(_LINE_END.sub("\n", raw.source), self.masks, name)
            self.cells[raw.index] = CodeCell(raw, "\n".join(cell.lines), cell.pinned)
            if cell.problem is not None:
                line = self._file_line(raw, cell.problem.line or 1)
                self.problems.append(replace(cell.problem, cell=Cell(raw.index, raw.id, 0, line)))
            parts.append(f"{self.masks.marker}cell{raw.index}\n{self.cells[raw.index].presented}\n")
        self.text = "".join(parts)
        """The Python text of the whole notebook."""

    @property
    def is_foreign(self) -> bool:
        """Whether its kernel runs another language."""
        language = self.document.language
        return language is not None and language not in _PYTHON

    def views(self, text: str) -> list[CellView]:
        """Return the cells in `text`, which may be changed; raise TornError if it is not a text of this
        notebook.
        """
        found = split(text, self.masks)
        if [view.index for view in found] != [*self.cells]:
            raise TornError("the cells are not those of the notebook")
        for view in found:
            cell = self.cells[view.index]
            view.id, view.pinned = cell.raw.id, cell.pinned
            kept = [number for _, _, number in self.masks.places(cell.presented)]
            if [number for _, _, number in self.masks.places(view.presented)] != kept:
                raise TornError(f"non-Python text of cell {view.index} was moved, copied or removed")
        return found

    def rendered(self, text: str) -> str:
        """Return the JSON text of the notebook with the cells as they are in `text`; raise TornError like
        `views`.
        """
        parts: list[str] = []
        done = 0
        document = self.document
        changed = [view for view in self.views(text) if view.presented != self.cells[view.index].presented]
        for view in sorted(changed, key=lambda view: self.cells[view.index].raw.start):
            cell = self.cells[view.index]
            parts += (document.text[done : cell.raw.start], written(view, cell.presented, cell.raw, self))
            done = cell.raw.end
        result = "".join([*parts, document.text[done:]])
        self._verify(result, changed)
        return result

    def _verify(self, result: str, changed: list[CellView]) -> None:
        """Check that the result reads back as exactly the changed cells, before it is written."""
        try:
            sources = {cell.index: cell.source for cell in read_document(result).cells}
        except NotebookError as error:
            raise TornError(str(error)) from error
        for view in changed:
            if _LINE_END.sub("\n", sources.get(view.index, "")) != view.shown:
                raise TornError(f"cell {view.index} would not have the intended content")
            if isinstance(parse(view.presented, ""), Problem):
                raise TornError(f"cell {view.index} would be no Python any more")

    @cached_property
    def style(self) -> StringStyle:
        """Return how its strings are written."""
        return StringStyle(self.document, self.document.cells)

    def raw_lines(self, index: int) -> list[RawLine]:
        """Return the lines of a cell as they are written in the notebook."""
        return lines_of_cell(self.cells[index].raw, self.document)

    def file_line(self, index: int, line: int) -> int:
        """Return the line of the file itself for a line of a cell, both counted from 1."""
        return self._file_line(self.cells[index].raw, line)

    def _file_line(self, raw: RawCell, line: int) -> int:
        lines = lines_of_cell(raw, self.document)
        offset = lines[min(line, len(lines)) - 1].offset
        return self.document.text.count("\n", 0, offset) + 1


def _is_python(cell: RawCell) -> bool:
    language = cell.language
    return (
        cell.kind == "code"
        and bool(cell.source.strip())
        and (language is None or language.lower() in _PYTHON)
    )
