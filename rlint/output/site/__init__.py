"""Build a static site of all rules: an index and a page for each, without scripts.

Answers how rules and their evidence are displayed. Loads nothing from other servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlint.evidence.recorded import Evidence


def pages(evidences: Sequence[Evidence], stale: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the text of each file by its path in the site: `index.html`, `rules/RL101.html`.

    `stale` says, by code, what has changed since a rule was measured.
    """
    from rlint.output.site import index_page, rule_page

    files = {"index.html": index_page.render(evidences)}
    for evidence in evidences:
        said = stale.get(evidence.entry.code, ())
        files[f"rules/{evidence.entry.code}.html"] = rule_page.render(evidence, said)
    return files
