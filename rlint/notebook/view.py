"""The cells in the text of a notebook, and the mapping of places in the text to places in a cell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rlint.findings import Edit
from rlint.notebook.masks import Masks, TornError
from rlint.parsing.positions import Positions


@dataclass
class CellView:
    """A cell in a text: from `start` to `end`, where the next one's line begins; its code begins in
    `first_line` of the text. `shown` is the content of the notebook, with stand-ins resolved.
    """

    index: int
    first_line: int
    start: int
    end: int
    presented: str
    shown: str
    id: str | None = None
    pinned: int = 0

    @cached_property
    def positions(self) -> Positions:
        """Return the positions in `shown`."""
        return Positions(self.shown)

    def local(self, edit: Edit, text: Positions) -> Edit:
        """Return an edit of the text as one of `shown`. The cell's last line has no line end there."""
        start, end = self._offset(edit.start, text), self._offset(edit.end, text)
        changed = edit.text
        if edit.end >= self.end:
            if changed.endswith("\n"):
                changed = changed[:-1]
            elif not changed and 0 < start < end:
                start -= 1
            if edit.start >= self.end:
                changed = f"\n{changed}"
        return Edit(start, end, changed, edit.shared)

    def _offset(self, offset: int, text: Positions) -> int:
        if offset >= self.end:
            return len(self.shown)
        place = text.position(offset)
        return self.positions.line_start(place.line - self.first_line + 1) + place.column - 1


def split(text: str, masks: Masks) -> list[CellView]:
    """Return the cells of a text, which have no ids or other metadata yet."""
    if not text:
        return []
    heads = list(re.finditer(rf"^{masks.marker}cell(\d+)\n", text, re.MULTILINE))
    if len(heads) != text.count(f"{masks.marker}cell") or not (heads and heads[0].start() == 0):
        raise TornError("the lines between the cells are damaged")
    positions = Positions(text)
    ends = [*(head.start() for head in heads[1:]), len(text)]
    found = []
    for head, end in zip(heads, ends, strict=True):
        presented = text[head.end() : end].removesuffix("\n")
        first = positions.position(head.end()).line
        found.append(CellView(int(head[1]), first, head.end(), end, presented, masks.restored(presented)))
    return found


def cell_at(line: int, views: Sequence[CellView]) -> CellView | None:
    """Return the cell that contains a line of the text."""
    found = bisect_right(views, line, key=lambda view: view.first_line) - 1
    return views[found] if found >= 0 else None
