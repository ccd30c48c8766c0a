"""The pages of rules, for reports that contain them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from rlint.output import RulePage
    from rlint.registry.catalogue import RuleEntry

_LINK = re.compile(r"https?://[^\s<>()`]+")


def pages_of(codes: Collection[str]) -> dict[str, RulePage]:
    """Return the pages of the rules with these codes, with their measurements."""
    from rlint.registry.catalogue import catalogue

    return {entry.code: _page(entry) for entry in catalogue() if entry.code in codes}


def _page(entry: RuleEntry) -> RulePage:
    from rlint.cli.commands.rule_command import page_of
    from rlint.output import RulePage

    text = page_of(entry)
    references = text.rpartition("\n## References\n")[2]
    link = _LINK.search(references)
    return RulePage(
        code=entry.code,
        name=entry.name,
        family=entry.family,
        summary=entry.summary,
        text=text,
        url=link.group().rstrip(".,;") if link else None,
        opt_in=entry.opt_in,
    )
