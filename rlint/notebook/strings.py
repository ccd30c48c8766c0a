"""The JSON strings of a cell's lines: parsed without losing how each character is escaped, and rewritten in
the same style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from rlint.frozen import frozen
from rlint.notebook.document import Document, RawCell, Token
from rlint.regex import regex

_ESCAPE = regex(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_CODE_POINT = regex(r"(?<!\\)(?:\\\\)*\\u([0-9a-fA-F]{4})")


@frozen
class RawLine:
    """A line in a JSON string: its position in the notebook, and how it and its line end are escaped."""

    offset: int
    text: str
    end: str


def lines_of(token: Token, document: Document) -> list[RawLine]:
    """Return the lines of a string, the last of which is empty if the string ends with a line end."""
    begin, stop = token.start + 1, token.end - 1
    found: list[RawLine] = []
    start = begin
    ends = [
        (match.start(), match.end(), _decoded(match))
        for match in _ESCAPE.finditer(document.text, begin, stop)
    ]
    ends = [end for end in ends if end[2] in ("\n", "\r")]
    skip = -1
    for number, (first, last, character) in enumerate(ends):
        if number == skip:
            continue
        after = last
        if character == "\r" and number + 1 < len(ends) and ends[number + 1][::2] == (last, "\n"):
            skip, after = number + 1, ends[number + 1][1]
        found.append(RawLine(start, document.text[start:first], document.text[first:after]))
        start = after
    return [*found, RawLine(start, document.text[start:stop], "")]


def _decoded(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return {"n": "\n", "r": "\r"}.get(match.group()[1:], "")


def lines_of_cell(cell: RawCell, document: Document) -> list[RawLine]:
    """Return the lines of a cell. A line that continues over several strings is concatenated."""
    found: list[RawLine] = []
    for token in cell.tokens:
        first, *others = lines_of(token, document)
        if found and not found[-1].end:
            last = found.pop()
            first = RawLine(last.offset if last.text else first.offset, last.text + first.text, first.end)
        found += [first, *others]
    return found or [RawLine(cell.start, "", "")]


class StringStyle:
    """The notebook's style of escapes: which characters are escaped."""

    def __init__(self, document: Document, cells: Iterable[RawCell]) -> None:
        text = document.text
        written = "".join(text[token.start : token.end] for cell in cells for token in cell.tokens)
        codes = _CODE_POINT.findall(written)
        points = {int(code, 16) for code in codes}
        self._ascii = text.isascii() and (
            any(point > 0x7E for point in points)
            or any(int(code, 16) > 0x7E for code in _CODE_POINT.findall(text))
        )
        self._upper = any(code != code.lower() for code in codes)
        self._spelled = {
            chr(point): self._code(point)
            for point in sorted(points)
            if 0x20 < point <= 0x7E and chr(point) not in written and chr(point) not in '"\\'
        }
        if "\\/" in written and "/" not in written.replace("\\/", ""):
            self._spelled["/"] = "\\/"

    def _code(self, point: int) -> str:
        return f"\\u{point:04X}" if self._upper else f"\\u{point:04x}"

    def encoded(self, text: str) -> str:
        """Return `text` between the quotes of a JSON string."""
        encoded = json.dumps(text, ensure_ascii=self._ascii)[1:-1]
        if self._ascii and self._upper:
            encoded = _CODE_POINT.sub(lambda match: match.group()[:-4] + match[1].upper(), encoded)
        for character, code in self._spelled.items():
            encoded = encoded.replace(character, code)
        return encoded
