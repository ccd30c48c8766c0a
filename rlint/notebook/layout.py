"""The cells of the lines of a notebook's text, determined from the text only."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence


def cell_lines(text: str) -> tuple[tuple[int, int], ...]:
    """Return, for each cell in the text of a notebook, its first line in the text, and its number."""
    if not text:
        return ()
    marker = text[0]
    heads = re.finditer(rf"^{marker}cell(\d+)$", text, re.MULTILINE)
    return tuple((text.count("\n", 0, head.end()) + 2, int(head[1])) for head in heads)


def shown_line(line: int, cells: Sequence[tuple[int, int]]) -> str:
    """Return a line of the text as shown to users: `cell 3:2`, or the number itself without cells."""
    found = bisect_right(cells, line, key=lambda cell: cell[0]) - 1
    if found < 0:
        return str(line)
    first, number = cells[found]
    return f"cell {number}:{line - first + 1}"
