"""The Markdown of pages as HTML, in which everything is escaped except Markdown's own markup."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markupsafe import Markup

_LINK = re.compile(r"https?://[^\s<>\"')\]]+[^\s<>\"')\].,;:]")


def to_html(text: str) -> Markup:
    """Return a text in Markdown as HTML: raw HTML in it is text, headings have ids, addresses are links."""
    from markupsafe import Markup

    return Markup(_renderer().render(text))  # noqa: S704 - `html` is off


def anchor(heading: str) -> str:
    """Return the id of a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, rule in (("text", _text), ("heading_open", _heading), ("fence", _fence)):
        renderer.add_render_rule(name, _bound(rule))
    return renderer


def _bound(rule: Callable[[Sequence[Token], int], str]) -> Callable[..., str]:
    """Return a rule in the form of the library: with the parser first, and with options last."""
    return lambda _, tokens, index, *__: rule(tokens, index)


def _text(tokens: Sequence[Token], index: int) -> str:
    content = tokens[index].content
    opened = [token.type for token in tokens[:index] if token.type in ("link_open", "link_close")]
    if opened[-1:] == ["link_open"]:
        return html.escape(content)
    parts, done = [], 0
    for match in _LINK.finditer(content):
        address = html.escape(match[0])
        parts += [html.escape(content[done : match.start()]), f'<a href="{address}">{address}</a>']
        done = match.end()
    return "".join([*parts, html.escape(content[done:])])


def _heading(tokens: Sequence[Token], index: int) -> str:
    return f'<{tokens[index].tag} id="{anchor(tokens[index + 1].content)}">'


def _fence(tokens: Sequence[Token], index: int) -> str:
    # a block that may be wider than a phone has a scroll bar of its own, also by keys
    return f'<pre tabindex="0"><code>{html.escape(tokens[index].content)}</code></pre>\n'
