"""HTML from the templates beside this module. Only escaped text is inserted."""

from __future__ import annotations

import functools
import html
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rlint.output.terminal import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def page(template: str, title: str, *css: str, style: str = "", **data: Any) -> str:
    """Return a whole page: a template filled with `data`, in the style of some sheets and of `style`."""
    from markupsafe import Markup

    sheets = Markup("".join(f"\n{_text(name)}" for name in css) + style)  # noqa: S704 - written by rlint
    return _environment().get_template(template).render(title=title, css=sheets, **data)


def prose(text: str) -> Markup:
    """Return a sentence, with text between backticks as code."""
    from markupsafe import Markup

    parts = [_escaped(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a backtick without a counterpart
        return _escaped(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)
    )


def share(position: float) -> str:
    """Return a position between 0 and 1 as a share of the width."""
    return f"{100 * position:.2f}%"


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_joined), autoescape=True, undefined=StrictUndefined, finalize=_escaped
    )
    environment.filters.update(prose=prose, share=share)
    return environment


def _joined(name: str) -> str:
    """Return a template without the line ends and blanks of its layout: some would be visible."""
    return "".join(line.strip() for line in _text(name).splitlines())


def _text(name: str) -> str:
    return (files("rlint.output") / "templates" / name).read_text(encoding="utf-8")


def _escaped(value: object) -> Markup:
    """Return the text of a value, "" for None, without terminal control sequences."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        value = f"{value:.2f}".rstrip("0").rstrip(".")
    return Markup("" if value is None else html.escape(printable(str(value))))  # noqa: S704 - it is escaped
