"""Programs with edits at the places of their nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable

Edit = tuple[int, int, str]


def line_starts(text: str) -> list[int]:
    """The offset at which each line starts."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def offsets(text: str) -> Callable[[ast.expr | ast.stmt | ast.alias], int]:
    """The start of a node."""
    starts = line_starts(text)
    return lambda node: starts[node.lineno - 1] + node.col_offset


def end_of(text: str, node: ast.expr) -> int:
    """The end of an expression."""
    return line_starts(text)[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)


def edited(text: str, edits: list[Edit]) -> str:
    """A text with edits that do not overlap; of overlapping ones, the last in the text."""
    until = len(text)
    for start, end, new in sorted(set(edits), reverse=True):
        if end <= until:
            text = text[:start] + new + text[end:]
            until = start
    return text
