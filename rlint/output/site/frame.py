"""What all pages of the site have around them."""

from __future__ import annotations

from rlint.output.site.style import CSS
from rlint.output.verify.markup import Markup, tag

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no script runs and nothing is loaded


def frame(title: str, summary: str, *body: Markup | None, up: str = "", style: str = "") -> str:
    """Return a whole page. `up` leads from it to the folder of the index, `style` is added to its style."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="description", content=summary),
        tag("title", title),
        tag("style", Markup(CSS + style)),
    )
    home = tag("nav", tag("a", "All rules", href=f"{up}index.html"), aria_label="Site") if up else None
    content = tag("body", home, tag("main", *body))
    return f"<!DOCTYPE html>\n{tag('html', head, content, lang='en')}\n"
