"""A changed cell as JSON: unchanged lines keep their escapes, and the list its layout."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rlint.notebook.masks import TornError

if TYPE_CHECKING:
    from rlint.notebook.document import RawCell
    from rlint.notebook.notebook import Notebook
    from rlint.notebook.strings import RawLine
    from rlint.notebook.view import CellView


def written(view: CellView, before: str, raw: RawCell, notebook: Notebook) -> str:
    """Return the source of a cell, whose text was `before`: a string or a list of lines, as it was."""
    lines = _lines(view, before, notebook)
    if not raw.is_list:
        return '"' + "".join(lines) + '"'
    text = notebook.document.text
    items = [f'"{line}"' for line in lines if line]
    first, last = raw.tokens[0], raw.tokens[-1]
    lead, tail = text[raw.start + 1 : first.start], text[last.end : raw.end - 1]
    one = len(raw.tokens) == 1
    between = f",{lead or ' '}" if one else text[first.end : raw.tokens[1].start]
    return f"[{lead}{between.join(items)}{tail}]" if items else "[]"


def _lines(view: CellView, before: str, notebook: Notebook) -> list[str]:
    """Return the lines as they are escaped, each with its line end."""
    old, new = before.split("\n"), view.presented.split("\n")
    raw = notebook.raw_lines(view.index)
    if len(raw) != len(old):
        raise TornError(f"the lines of cell {view.index} cannot be told apart")
    newline = _newline(raw)
    found: list[tuple[str, str]] = []
    for kind, start, end, first, after in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [(line.text, line.end or newline) for line in raw[start:end]]
        else:
            texts = map(notebook.masks.restored, new[first:after])
            found += [(notebook.style.encoded(text), newline) for text in texts]
    return [*(text + end for text, end in found[:-1]), found[-1][0]]


def _newline(raw: list[RawLine]) -> str:
    return raw[0].end or "\\n"
