"""HTML and SVG built as text, in which nothing can be put that was not escaped."""

from __future__ import annotations

import html

from rlint.output.terminal import printable

_VOID = frozenset({"meta", "br", "input"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Markup:
    """Return an element. Children that are no Markup are escaped, None is left out.

    Attributes are written with `_` for `-`, and with one behind a name that Python keeps for itself
    (`class_`); None and False leave one out, True gives it no value.
    """
    opened = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{opened}>")
    return Markup(f"<{name}{opened}>{join(*children)}</{name}>")


def join(*parts: str | None) -> Markup:
    """Return parts behind each other, those escaped that are no Markup."""
    return Markup("".join(_escaped(part) for part in parts if part is not None))


def prose(text: str) -> Markup:
    """Return a sentence, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them is no pair
        return join(text)
    return join(*(tag("code", part) if index % 2 else part for index, part in enumerate(parts)))


def _escaped(part: str) -> str:
    return part if isinstance(part, Markup) else html.escape(printable(part))


def _attribute(key: str, value: str | float | bool | None) -> str:  # noqa: FBT001 - as HTML has them
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(printable(shown))}"'


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no script runs and nothing is loaded


def page(title: str, css: str, body: Markup, *, summary: str | None = None) -> str:
    """Return a whole file: a page that needs no other file, runs nothing, and fits a phone."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="description", content=summary) if summary is not None else None,
        tag("title", title),
        tag("style", Markup(css)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"
