"""Hover texts: for a finding, or for a code in a suppression comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.lsp.diagnostics import place_of
from rlint.lsp.pages import about, page
from rlint.parsing.positions import Positions
from rlint.registry.catalogue import RuleEntry, catalogue
from rlint.suppression.comments import read_layout
from rlint.suppression.directives import Directive, DirectiveItem, read_directives

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlint.findings import Finding
    from rlint.lsp.documents import Checked, OpenDocument

_WORD = re.compile(r"[^\s,]+")
_MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class Hovered:
    """The position of the pointer: a place in a text document, which may be a cell of `document`."""

    document: Checked
    part: OpenDocument
    place: types.Position


def hover(
    at: Hovered, findings: Sequence[Finding], link: Callable[[str], str | None], *, markdown: bool
) -> types.Hover | None:
    """Return the findings at a place with their rules' pages, or the page of the rule that a comment names.
    `link` gives the URL of a rule's page.
    """
    entries = {entry.code: entry for entry in catalogue()}
    places = [(finding, place_of(at.document, finding)) for finding in findings]
    here = [
        (finding, place.range)
        for finding, place in places
        if place is not None and place.part is at.part and _contains(place.range, at.place)
    ]
    pages: list[str] = []
    shown: types.Range | None = None

    def linked(code: str) -> str:
        return page(entries[code], link(code) if markdown else None)

    if here:
        shown = min((where for _, where in here), key=_size)
        pages = [about(finding) for finding, _ in here]
        pages += [linked(code) for code in dict.fromkeys(f.code for f, _ in here) if code in entries]
    elif (named := _named(at)) is not None:
        item, shown = named
        meant = [entry for entry in entries.values() if item.means(entry.code, entry.name)]
        pages = [linked(meant[0].code)] if len(meant) == 1 else [_listed(item.text, meant)]
    if not pages:
        return None
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n---\n\n".join(pages)), shown)


def _named(at: Hovered) -> tuple[DirectiveItem, types.Range] | None:
    """Return the code or name under the pointer, in a suppression comment."""
    text = at.document.source
    if "noqa" not in text.lower() and "rlint" not in text.lower():
        return None
    layout = read_layout(text)
    offset = at.document.offset(at.part, at.place)
    if offset is None or layout is None:
        return None
    positions = Positions(text)
    for directive in read_directives(layout).requests:
        for item, start, end in _items(directive, text):
            if start <= offset <= end:
                where = at.document.place(positions.position(start), positions.position(end))
                return (item, where.range) if where is not None else None
    return None


def _items(directive: Directive, text: str) -> Iterator[tuple[DirectiveItem, int, int]]:
    words = _WORD.finditer(text, directive.items_start, directive.items_end)
    for item, word in zip(directive.items or (), words, strict=True):
        yield item, word.start(), word.end()


def _listed(text: str, meant: Sequence[RuleEntry]) -> str:
    if not meant:
        return f"rlint has no rule `{text}`.\n"
    lines = [f"- `{entry.code}` {entry.name}: {entry.summary}" for entry in meant[:_MOST_LISTED]]
    more = [f"- and {len(meant) - _MOST_LISTED} more"] if len(meant) > _MOST_LISTED else []
    return f"`{text}` selects {len(meant)} rules:\n\n" + "\n".join([*lines, *more]) + "\n"


def _contains(where: types.Range, place: types.Position) -> bool:
    return where.start <= place <= where.end


def _size(where: types.Range) -> tuple[int, int]:
    return where.end.line - where.start.line, where.end.character - where.start.character
