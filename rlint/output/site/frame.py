"""What all pages of the site have around them."""

from __future__ import annotations

from rlint.output.markup import Markup, page, tag
from rlint.output.site.site_style import CSS


def frame(title: str, summary: str, *body: Markup | None, up: str = "", style: str = "") -> str:
    """Return a whole page. `up` leads from it to the folder of the index, `style` is added to its style."""
    home = tag("nav", tag("a", "All rules", href=f"{up}index.html"), aria_label="Site") if up else None
    return page(title, CSS + style, tag("body", home, tag("main", *body)), summary=summary)
