"""What is shown where the pointer rests: on a finding, or on a code in a suppression comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.lsp.diagnostics import range_of
from rlint.lsp.pages import about, page
from rlint.registry.catalogue import RuleEntry, catalogue
from rlint.suppression.comments import read_layout
from rlint.suppression.directives import Directive, DirectiveItem, read_directives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Finding
    from rlint.lsp.documents import OpenDocument

_WORD = re.compile(r"[^\s,]+")
_MOST_LISTED = 30


def hover(
    document: OpenDocument, findings: Sequence[Finding], place: types.Position, *, markdown: bool
) -> types.Hover | None:
    """The findings at a place, each with its rule's page; or the page of the rule that a comment names."""
    entries = {entry.code: entry for entry in catalogue()}
    here = [finding for finding in findings if _contains(range_of(document, finding), place)]
    pages: list[str] = []
    shown: types.Range | None = None
    if here:
        shown = min((range_of(document, finding) for finding in here), key=_size)
        pages = [about(finding) for finding in here]
        pages += [page(entries[code]) for code in dict.fromkeys(f.code for f in here) if code in entries]
    elif (named := _named(document, place)) is not None:
        item, shown = named
        meant = [entry for entry in entries.values() if item.means(entry.code, entry.name)]
        pages = [page(meant[0])] if len(meant) == 1 else [_listed(item.text, meant)]
    if not pages:
        return None
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n---\n\n".join(pages)), shown)


def _named(document: OpenDocument, place: types.Position) -> tuple[DirectiveItem, types.Range] | None:
    """The code or name under the pointer, in a comment that asks to hide findings."""
    text = document.source
    if "noqa" not in text.lower() and "rlint" not in text.lower():
        return None
    layout = read_layout(text)
    offset = document.text.offset(place) - int(document.begins_with_mark)
    for directive in read_directives(layout).requests if layout else ():
        for item, start, end in _items(directive, text):
            if start <= offset <= end:
                mark = int(document.begins_with_mark)
                return item, document.text.range(start + mark, end + mark)
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
    return f"`{text}` means {len(meant)} rules:\n\n" + "\n".join([*lines, *more]) + "\n"


def _contains(where: types.Range, place: types.Position) -> bool:
    return where.start <= place <= where.end


def _size(where: types.Range) -> tuple[int, int]:
    return where.end.line - where.start.line, where.end.character - where.start.character
