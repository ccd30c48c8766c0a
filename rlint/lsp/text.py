"""Positions of the protocol in a text: lines from 0, columns in the negotiated code units."""

from __future__ import annotations

from lsprotocol import types

from rlint.findings import Position
from rlint.parsing.positions import Positions

_BYTES_PER_UNIT = {"utf-8": 1, "utf-16": 2}


class DocumentText:
    """A text and the unit in which the client counts columns: "utf-8", "utf-16" or "utf-32"."""

    def __init__(self, source: str, encoding: str) -> None:
        self.source = source
        self.encoding = encoding
        self._positions = Positions(source)

    def offset(self, place: types.Position) -> int:
        """Return the character offset of a position; one after the end of its line or of the text means that
        end.
        """
        line = place.line + 1
        if line > len(self._positions.starts):
            return len(self.source)
        start, content = self._positions.line_start(line), self._positions.line_text(line)
        if self.encoding == "utf-32" or content.isascii():
            return start + min(place.character, len(content))
        units = 0
        for column, character in enumerate(content):
            units += self._units(character)
            if units > place.character:
                return start + column
        return start + len(content)

    def place(self, offset: int) -> types.Position:
        """Return line and column of a character offset."""
        return self.place_of(self._positions.position(min(offset, len(self.source))))

    def place_of(self, position: Position) -> types.Position:
        """Return line and column of an rlint position."""
        content = self._positions.line_text(position.line)
        return types.Position(position.line - 1, self._units(content[: position.column - 1]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two character offsets."""
        return types.Range(self.place(start), self.place(end))

    @property
    def lines(self) -> list[str]:
        """Return the lines, without their ends."""
        return [self._positions.line_text(line) for line in range(1, len(self._positions.starts) + 1)]

    def line(self, number: int) -> types.Range:
        """Return the range of a line, counted from 1, without surrounding whitespace."""
        content = self._positions.line_text(number)
        start = self._positions.line_start(number)
        indent = len(content) - len(content.lstrip())
        return self.range(start + indent, start + max(indent, len(content.rstrip())))

    def changed(self, change: types.TextDocumentContentChangeEvent) -> str:
        """Return the text after a change: of a range, or as a whole."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return change.text
        start, end = self.offset(change.range.start), self.offset(change.range.end)
        return self.source[:start] + change.text + self.source[max(start, end) :]

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        return (
            len(text.encode(f"{self.encoding}-le".replace("8-le", "8"), "surrogatepass"))
            // (_BYTES_PER_UNIT[self.encoding])
        )
