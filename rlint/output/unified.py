"""Changes as a unified diff."""

from __future__ import annotations

import difflib
from itertools import pairwise
from typing import TYPE_CHECKING

from rlint.output.terminal import Paint, Style, printable
from rlint.syntax.positions import Positions

if TYPE_CHECKING:
    from rlint.engine import Changed

_STYLES = {"+": Style.ADDED, "-": Style.REMOVED, "@": Style.FRAME}


def render_diff(changed: Changed, *, color: bool) -> str:
    """Return the diff of one file, "" if nothing changed.

    Without colour it holds the bytes that `patch` needs; with colour it is for eyes alone, and
    control characters are spelled out.
    """
    name = printable(changed.source.name)
    old, new = _lines(changed.source.text), _lines(changed.text)
    paint = Paint(color=color)
    parts: list[str] = []
    for number, line in enumerate(difflib.unified_diff(old, new, name, name)):
        body = line.rstrip("\r\n")
        if color:
            style = Style.PATH if number < 2 else _STYLES.get(body[:1])
            body = "\t".join(printable(piece) for piece in body.split("\t"))
            parts.append((paint(style, body) if style else body) + "\n")
        else:
            parts.append(line)
        if body == line:
            parts.append("\\ No newline at end of file\n" if color else "\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    starts = [*Positions(text).starts, len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]
