"""Conversion of the tree's lines and UTF-8 columns to character offsets of the text."""

from __future__ import annotations

import ast
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from rlint.findings import Position
from rlint.regex import regex

_NEWLINE = regex(r"\r\n|\r|\n")


class Positions:
    r"""Positions in a text. Lines are counted from 1, as in the tree.

    Only `\n`, `\r\n` and `\r` end a line for Python; `str.splitlines` has more line ends and would count
    wrong after a form feed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()

    @cached_property
    def starts(self) -> list[int]:
        """Return the offset at which each line starts."""
        if "\r" in self.text:
            return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]
        before = accumulate(map(len, self.text.split("\n")))  # without line ends
        return [0, *[length + lines for lines, length in enumerate(before, 1)]][:-1]

    @cached_property
    def newline(self) -> str:
        """Return the line end that the text uses (its first one)."""
        match = _NEWLINE.search(self.text)
        return match.group() if match else "\n"

    def offset(self, line: int, utf8_column: int) -> int:
        """Return the character offset of a position in the tree's form."""
        if line > len(self.starts):
            return len(self.text)
        start = self.starts[line - 1]
        if self._ascii:
            return start + utf8_column
        content = self.line_text(line)
        if content.isascii():
            return start + utf8_column
        return start + len(content.encode("utf-8", "surrogatepass")[:utf8_column].decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return start and end offset of a node that has a position. Enclosing parentheses are not part
        of it.
        """
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        if self._ascii and end_line <= len(self.starts):
            return self.starts[line - 1] + column, self.starts[end_line - 1] + end_column
        return self.offset(line, column), self.offset(end_line, end_column)

    def position(self, offset: int) -> Position:
        """Return line and column of a character offset."""
        line = bisect_right(self.starts, offset)
        return Position(line, offset - self.starts[line - 1] + 1)

    def line_start(self, line: int) -> int:
        """Return the offset of the first character of a line; the text's end for a line after the last."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.text)

    def line_text(self, line: int) -> str:
        """Return a line without its line end."""
        return self.text[self.line_start(line) : self.line_start(line + 1)].rstrip("\r\n")

    def line_end(self, line: int) -> int:
        """Return the offset just before a line's line end."""
        return self.line_start(line) + len(self.line_text(line))
