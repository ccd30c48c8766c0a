"""The index of the site: all rules in a table, which is filtered without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlint.output import evidence_lines, measured_page, templates

if TYPE_CHECKING:
    from rlint.evidence.recorded import Evidence

_SUMMARY = (
    "Performance problems that rlint finds in reinforcement-learning and PyTorch code, with measured costs"
)
_COLUMNS = ("Rule", "Family", "Fix", "Default", "Measured", "Finds")


def render(evidences: Sequence[Evidence]) -> str:
    """Return the index as a file."""
    families = sorted({evidence.entry.family for evidence in evidences})
    fixes = [fix for fix in ("safe", "unsafe", "none") if any(fix in _fixes(one) for one in evidences)]
    filters = {
        "family": {family: family for family in families},
        "fix": {fix: measured_page.fix_words(fix) for fix in fixes},
        "default": {"on": "on", "opt-in": "opt-in"},
    }
    rows = []
    for evidence in evidences:
        entry = evidence.entry
        default = "opt-in" if entry.opt_in else "on"
        fix, gained = measured_page.fix_words(entry.fixes), evidence_lines.cell(evidence)
        cells = (entry.family, fix, default, gained, templates.prose(entry.summary))
        rows.append((entry, " ".join(_fixes(evidence)), default, cells))
    return templates.page(
        "rules.html.jinja",
        "Rules of rlint",
        "verify.css",
        "site.css",
        style="".join(_hiding(filters)),
        summary=_SUMMARY,
        columns=_COLUMNS,
        filters={name: {"all": "all", **values} for name, values in filters.items()},
        rules=rows,
    )


def _hiding(filters: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield the style that hides rows for each choice of the filters."""
    for name, values in filters.items():
        for value in values:
            yield (
                f'body:has(#{name}-{value}:checked) .rules tbody tr:not([data-{name}~="{value}"]) '
                "{ display: none; }\n"
            )


def _fixes(evidence: Evidence) -> list[str]:
    return evidence.entry.fixes.split(", ")
