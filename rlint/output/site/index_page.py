"""The index of the site: all rules in a table, which is filtered without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rlint.output import evidence_lines, measured_page
from rlint.output.markup import Markup, join, prose, tag
from rlint.output.site.frame import frame

if TYPE_CHECKING:
    from rlint.evidence.recorded import Evidence

_COLUMNS = ("Rule", "Family", "Fix", "Default", "Measured", "Finds")
_TITLE = "The rules of rlint"


def render(evidences: Sequence[Evidence]) -> str:
    """Return the index as a file."""
    families = sorted({evidence.entry.family for evidence in evidences})
    fixes = [fix for fix in ("safe", "unsafe", "none") if any(fix in _fixes(one) for one in evidences)]
    filters = {
        "family": {family: family for family in families},
        "fix": {fix: measured_page.fix_words(fix) for fix in fixes},
        "default": {"on": "on", "opt-in": "opt-in"},
    }
    head = tag("tr", *(tag("th", title, scope="col", role="columnheader") for title in _COLUMNS), role="row")
    table = tag(
        "table",
        tag("thead", head, role="rowgroup"),
        tag("tbody", *map(_row, evidences), role="rowgroup"),
        class_="rows rules",
        role="table",
    )
    return frame(
        _TITLE,
        "What rlint finds in reinforcement-learning and PyTorch code, and what that was measured to cost",
        tag("h1", _TITLE),
        tag(
            "p",
            f"{len(evidences)} patterns in reinforcement-learning and PyTorch code, most of which cost time "
            "or memory, each with what its fix was measured to gain.",
            class_="lead",
        ),
        tag("form", *(_choice(name, values) for name, values in filters.items()), class_="filters"),
        table,
        style="".join(_hiding(filters)),
    )


def _fixes(evidence: Evidence) -> list[str]:
    return evidence.entry.fixes.split(", ")


def _choice(name: str, values: dict[str, str]) -> Markup:
    """Radio buttons: style sheets know which one is chosen."""
    options = {"all": "all", **values}
    buttons = [
        tag(
            "label",
            tag("input", type="radio", name=name, id=f"{name}-{value}", value=value, checked=value == "all"),
            f" {shown}",
        )
        for value, shown in options.items()
    ]
    return tag("fieldset", tag("legend", name.capitalize()), *buttons)


def _hiding(filters: dict[str, dict[str, str]]) -> Iterable[str]:
    for name, values in filters.items():
        for value in values:
            yield (
                f'body:has(#{name}-{value}:checked) .rules tbody tr:not([data-{name}~="{value}"]) '
                "{ display: none; }\n"
            )


def _row(evidence: Evidence) -> Markup:
    entry = evidence.entry
    default = "opt-in" if entry.opt_in else "on"
    name = tag("a", tag("b", entry.code), f" {entry.name}", href=f"rules/{entry.code}.html")
    fix, gained = measured_page.fix_words(entry.fixes), evidence_lines.cell(evidence)
    cells = (entry.family, fix, default, gained, prose(entry.summary))
    first = tag("th", tag("span", name), scope="row", role="rowheader", class_="name", data_label=_COLUMNS[0])
    others = [
        tag("td", tag("span", cell), role="cell", data_label=title)
        for cell, title in zip(cells, _COLUMNS[1:], strict=True)
    ]
    return tag(
        "tr",
        join(first, *others),
        role="row",
        id=entry.code,
        data_family=entry.family,
        data_fix=" ".join(_fixes(evidence)),
        data_default=default,
    )
