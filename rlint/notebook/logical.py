"""The logical lines of a cell, found without a tokenizer: IPython's extensions of Python break all of
those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlint.frozen import frozen
from rlint.regex import regex

_PIECE = regex(r"\"{3}|'{3}|[\"'#()\[\]{}\\]|[^\"'#()\[\]{}\\]+")
_ESCAPES = tuple("%!?/,;")
_ASSIGNED = regex(r"[ \t]*(?P<target>[^\W\d][\w.,* \t\[\]()'\"]*)=[ \t]*(?P<escape>[%!])(?!=)")


@frozen
class Logical:
    """A logical line: its first and last line, counted from 0, and whether it is IPython syntax.

    `kind` is "escape" (`%time x`, `!ls`, `?x`), "assigned" (`x = !ls`), "help" (`x?`), or "" for Python.
    """

    first: int
    last: int
    kind: str = ""


def assigned(line: str) -> re.Match[str] | None:
    """Read `x = !ls` and `x = %time f()`."""
    return _ASSIGNED.match(line)


def logical_lines(lines: Sequence[str]) -> Iterator[Logical]:
    """Group the lines of a cell (without their line ends). Blank lines and comments are Python."""
    number = 0
    while number < len(lines):
        line = lines[number]
        stripped = line.lstrip()
        kind = "escape" if stripped.startswith(_ESCAPES) else "assigned" if assigned(line) else ""
        if kind:
            last = _continued(lines, number)
        else:
            last, code = _python(lines, number)
            if code.endswith("?"):
                kind = "help"
        yield Logical(number, last, kind)
        number = last + 1


def _continued(lines: Sequence[str], number: int) -> int:
    while number + 1 < len(lines) and lines[number].endswith("\\"):
        number += 1
    return number


def _python(lines: Sequence[str], number: int) -> tuple[int, str]:
    """Return the last line of the statement that starts at a line, and the end of its code."""
    depth = 0
    quote: str | None = None  # of a string that continues on the next line
    code = ""
    while True:
        depth, quote, line_code, continues = _scan(lines[number], depth, quote)
        code = line_code.rstrip() or code
        if not (quote or depth > 0 or continues) or number + 1 >= len(lines):
            return number, code
        number += 1


def _scan(line: str, depth: int, quote: str | None) -> tuple[int, str | None, str, bool]:
    """Scan one line: open brackets, open string, the line without its comment, a backslash at its end."""
    at = 0
    while at < len(line):
        if quote is not None:
            end = _string_end(line, at, quote)
            if end < 0:
                continues = line.endswith("\\") and len(quote) == 1
                return depth, quote if len(quote) == 3 or continues else None, line, continues
            at, quote = end, None
            continue
        piece = _PIECE.match(line, at)
        assert piece is not None
        text = piece.group()
        if text == "#":
            return depth, None, line[:at], False
        if text[0] in "\"'":
            quote = text
        elif text in "([{":
            depth += 1
        elif text in ")]}":
            depth = max(0, depth - 1)
        elif text == "\\" and piece.end() == len(line):
            return depth, None, line, True
        at = piece.end()
    if quote is not None and len(quote) == 1:
        quote = None
    return depth, quote, line, False


def _string_end(line: str, at: int, quote: str) -> int:
    while at < len(line):
        if line[at] == "\\":
            at += 2
        elif line.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    return -1
