"""Changes as a unified diff."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rlint.output.parts import versions
from rlint.output.terminal import Paint, TextStyle, printable
from rlint.parsing.positions import Positions
from rlint.source.line_diff import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlint.run_data import Changed
    from rlint.source.line_diff import Change

_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file\n"


def render_diff(changed: Changed, *, color: bool) -> str:
    """Return the diff of one file, "" if nothing changed; of a notebook, one for each changed cell.

    Without colour it contains the bytes that `patch` needs; with colour it is for users only, with control
    characters as escapes.
    """
    paint = Paint(color=color)
    return "".join(
        _render(printable(name), old, new, paint, color=color) for name, old, new in versions(changed)
    )


def _render(name: str, before: str, after: str, paint: Paint, *, color: bool) -> str:
    old, new = _lines(before), _lines(after)
    parts: list[str] = []
    for hunk in _hunks(changes(old, new)):
        if not parts:
            parts = [paint(TextStyle.PATH, f"--- {name}") + "\n", paint(TextStyle.PATH, f"+++ {name}") + "\n"]
        rows = list(_rows(old, new, hunk))
        old_start = max(0, hunk[0].old_start - _CONTEXT)
        new_start = max(0, hunk[0].new_start - _CONTEXT)
        removed = _range(old_start, sum(mark != "+" for mark, _ in rows))
        added = _range(new_start, sum(mark != "-" for mark, _ in rows))
        parts.append(paint(TextStyle.FRAME, f"@@ -{removed} +{added} @@") + "\n")
        parts += [_for_eyes(mark, line, paint) if color else mark + _terminated(line) for mark, line in rows]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    starts = [*Positions(text).starts, len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]


def _hunks(found: list[Change]) -> Iterator[list[Change]]:
    hunk: list[Change] = []
    for change in found:
        if hunk and change.old_start - hunk[-1].old_end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _rows(old: list[str], new: list[str], hunk: list[Change]) -> Iterator[tuple[str, str]]:
    done = max(0, hunk[0].old_start - _CONTEXT)
    for change in hunk:
        for line in old[done : change.old_start]:
            yield " ", line
        for line in old[change.old_start : change.old_end]:
            yield "-", line
        for line in new[change.new_start : change.new_end]:
            yield "+", line
        done = change.old_end
    for line in old[done : done + _CONTEXT]:
        yield " ", line


def _range(start: int, length: int) -> str:
    if length == 1:
        return str(start + 1)
    # An empty range is named by the line before it.
    return f"{start + 1 if length else start},{length}"


def _terminated(line: str) -> str:
    return line if line.endswith(("\r", "\n")) else f"{line}\n{_NO_NEWLINE}"


def _for_eyes(mark: str, line: str, paint: Paint) -> str:
    body = line.rstrip("\r\n")
    shown = mark + "\t".join(printable(piece) for piece in body.split("\t"))
    styles = {"+": TextStyle.ADDED, "-": TextStyle.REMOVED}
    colored = paint(styles[mark], shown) if mark in styles else shown
    return f"{colored}\n{_NO_NEWLINE if body == line else ''}"
