"""Text in terminals: widths, colours, and no control sequences.

Not by `rich`, which measures a text unchanged, while tabs and control characters are shown as something else
here; and importing its tables takes 25 ms, a sixth of a check of one file.
"""

from __future__ import annotations

import enum
import unicodedata

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_TAB = " " * 4


class TextStyle(enum.Enum):
    """The role of a piece of output; the value is its ANSI colour."""

    ALERT = "1;31"
    MARK = "36"
    PATH = "1"
    FRAME = "1;34"
    LABEL = "1;36"
    WHY = "1;33"
    ADDED = "32"
    REMOVED = "31"


class Paint:
    """Colours text, or returns it unchanged."""

    def __init__(self, *, color: bool) -> None:
        self._color = color

    def __call__(self, style: TextStyle, text: str) -> str:
        """Return `text` in the colour of `style`."""
        return f"\x1b[{style.value}m{text}\x1b[0m" if self._color and text else text


def printable(text: str) -> str:
    """Return `text` with control characters, invisible ones and lone surrogates as escapes."""
    if text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def cells(line: str) -> list[tuple[str, int]]:
    """Return, for each character of a line of code, what is shown for it and how many columns that takes."""
    if line.isascii() and line.isprintable():
        return [(character, 1) for character in line]
    return [_cell(character) for character in line]


def excerpt(line: str, start: int, end: int, width: int | None) -> tuple[str, int, int]:
    """Return a line of code as shown, with column and length of the characters `start:end` in it.

    A line that takes more than `width` columns is shortened to a part in which `start` is visible.
    """
    if line.isascii() and line.isprintable() and (width is None or len(line) <= width):
        return line, min(start, len(line)), len(line[start:end])
    shown = cells(line)
    if width is not None and sum(columns for _, columns in shown) > width:
        return _cut(shown, start, end, max(width, 20))
    before = sum(columns for _, columns in shown[:start])
    return "".join(text for text, _ in shown), before, sum(columns for _, columns in shown[start:end])


def _cut(shown: list[tuple[str, int]], start: int, end: int, width: int) -> tuple[str, int, int]:
    room = width - 2  # an ellipsis at either side
    start = min(start, len(shown))
    first, taken = start, 0
    # A third of the width is for the text before the place.
    while first > 0 and taken + shown[first - 1][1] <= room // 3:
        first -= 1
        taken += shown[first][1]
    last = start
    while last < len(shown) and taken + shown[last][1] <= room:
        taken += shown[last][1]
        last += 1
    while first > 0 and taken + shown[first - 1][1] <= room:
        first -= 1
        taken += shown[first][1]
    head, tail = "…" * (first > 0), "…" * (last < len(shown))
    before = len(head) + sum(columns for _, columns in shown[first:start])
    marked = sum(columns for _, columns in shown[start : min(end, last)])
    return head + "".join(text for text, _ in shown[first:last]) + tail, before, marked


def _cell(character: str) -> tuple[str, int]:
    if character == "\t":
        return _TAB, len(_TAB)
    escaped = _escaped(character)
    if escaped != character:
        return escaped, len(escaped)
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _ESCAPED:
        return character
    return character.encode("unicode_escape").decode("ascii")
