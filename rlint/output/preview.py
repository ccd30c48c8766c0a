"""Preview of a fix, as a few lines with `-` and `+`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.frozen import frozen, mutable
from rlint.parsing.positions import Positions
from rlint.source.line_diff import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rlint.findings import Edit
    from rlint.output.parts import ReportPart


@frozen
class DiffRow:
    """One line of a preview: mark "-", "+", " ", or "…" for lines left out.

    `number` is the line in the fixed code; a removed line has none.
    """

    mark: str
    number: int | None
    text: str


@mutable
class _Hunk:
    """Edits that change the same lines, both counted from 1."""

    first: int
    last: int
    edits: list[Edit]


def preview_of(parts: Iterable[ReportPart], here: int | None, limit: int) -> list[DiffRow]:
    """Return at most `limit` rows about the changes to several cells; those except the cell `here` are
    named.
    """
    rows: list[DiffRow] = []
    for part in parts:
        if len(rows) >= limit:
            break
        if part.cell != here or rows:
            rows.append(DiffRow("…", None, f"cell {part.cell}"))
        rows += preview(part.positions, part.edits, max(1, limit - len(rows)))
    return rows


def preview(positions: Positions, edits: Sequence[Edit], limit: int) -> list[DiffRow]:
    """Return at most `limit` rows that show what `edits` change."""
    rows: list[DiffRow] = []
    shift = 0
    for hunk in _hunks(positions, edits):
        start, end = positions.line_start(hunk.first), positions.line_start(hunk.last + 1)
        old = positions.text[start:end]
        new = _edited(old, start, hunk.edits)
        changed = list(_rows(_lines(old), _lines(new), hunk.first + shift))
        if rows and changed:
            rows.append(DiffRow("…", None, ""))
        rows += changed
        shift += len(_lines(new)) - len(_lines(old))
    if len(rows) > limit:
        left_out = len(rows) - limit + 1
        rows[limit - 1 :] = [DiffRow("…", None, f"{left_out} more lines")]
    return rows


def _hunks(positions: Positions, edits: Sequence[Edit]) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        first, last = positions.position(edit.start).line, positions.position(edit.end).line
        if hunks and first <= hunks[-1].last:
            hunks[-1].last = max(last, hunks[-1].last)
            hunks[-1].edits.append(edit)
        else:
            hunks.append(_Hunk(first, last, [edit]))
    return hunks


def _edited(old: str, start: int, edits: list[Edit]) -> str:
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (old[done : edit.start - start], edit.text)
        done = edit.end - start
    return "".join([*parts, old[done:]])


def _lines(text: str) -> list[str]:
    if "\r" in text:
        positions = Positions(text)
        lines = [positions.line_text(number) for number in range(1, len(positions.starts) + 1)]
    else:
        lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _rows(old: list[str], new: list[str], first: int) -> Iterator[DiffRow]:
    done: int | None = None
    for change in changes(old, new):
        for index in range(change.new_start if done is None else done, change.new_start):
            yield DiffRow(" ", first + index, new[index])
        for index in range(change.old_start, change.old_end):
            yield DiffRow("-", None, old[index])
        for index in range(change.new_start, change.new_end):
            yield DiffRow("+", first + index, new[index])
        done = change.new_end
