"""Print reports: one module per format, loaded when it is used.

Answers how findings and fixes are displayed to users and programs. Computes and decides nothing.
"""

from __future__ import annotations

import importlib
from dataclasses import field
from typing import TYPE_CHECKING

from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rlint.profiles.heated import Heating
    from rlint.run_data import Changed, Report

_MODULES = {
    "full": "full",
    "concise": "concise",
    "grouped": "grouped",
    "json": "findings_json",
    "json-lines": "json_lines",
    "sarif": "services.sarif",
    "github": "services.github",
    "gitlab": "services.gitlab",
    "azure": "services.azure",
    "junit": "services.junit",
    "pylint": "services.pylint",
    "rdjson": "services.rdjson",
    "html": "findings_page",
}

FOR_HUMANS = frozenset({"full", "concise", "grouped"})
"""Formats for users in a terminal."""
LISTS_HIDDEN = frozenset({"sarif"})
"""Formats that also list findings suppressed by comments."""

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""The names that `--output-format` accepts, the default first."""


RANKED = frozenset({"full", "grouped"})
"""Formats that show the most important findings first."""
SHOWS_MEASURED = frozenset({"full", "grouped", "json", "json-lines", "sarif", "html"})
"""Formats that show the measured gains of rules' fixes."""
SHOWS_EDITS = frozenset({"full", "json", "json-lines", "rdjson", "sarif", "html"})
"""Formats that show the edits of fixes."""
SHOWS_PAGES = frozenset({"sarif", "html"})
"""Formats that need the pages of the reported rules."""


@frozen
class RulePage:
    """The page of a rule. `text` is Markdown; `url` leads to a page about it."""

    code: str
    name: str
    family: str
    summary: str
    text: str
    url: str | None = None
    opt_in: bool = False


@frozen
class ReportOptions:
    """Options of a report."""

    unsafe_fixes: bool = False
    """Unsafe fixes count as fixable."""
    color: bool = False
    width: int | None = None
    """Columns of the terminal; longer lines of code are shortened. None: unlimited."""
    fixed: int = 0
    """How many findings were fixed before this report was created."""
    removed: int = 0
    """How many disappeared with the fixes of others."""
    new_fixed: int = 0
    """How many of the fixed findings appeared only after other fixes."""
    new_left: int = 0
    """How many of the report's findings did not exist at first."""
    fold: bool = False
    """Show only the first findings of a rule in full, the places of the others, and the number of those of
    low impact.
    """
    summary: bool = True
    """End with the number of findings, in the formats for users."""
    measured: Mapping[str, str] = field(default_factory=dict)
    """The gains of rules' fixes, by code; shown by the formats that show everything."""
    heating: Heating | None = None
    """Profile data of the findings and of the run."""
    pages: Mapping[str, RulePage] = field(default_factory=dict)
    """The pages of the reported rules, by code; for the formats in SHOWS_PAGES."""
    rule_url: str | None = None
    """The URL under which the pages of `rlint site` are published, if they are."""

    def url_of(self, code: str) -> str | None:
        """Return the URL of a rule's page, if one is published."""
        return f"{self.rule_url.rstrip('/')}/{code}.html" if self.rule_url else None


def reporter(format: str) -> Callable[[Report, ReportOptions], str]:  # noqa: A002 - the option's name
    """Return the function that renders a report in one of FORMATS, final line end included."""
    render: Callable[[Report, ReportOptions], str]
    render = importlib.import_module(f"rlint.output.{_MODULES[format]}").render
    return render


def diff(changed: Iterable[Changed], *, color: bool = False) -> str:
    """Return one unified diff per changed file, in the format of `patch -p0` if not coloured."""
    from rlint.output.unified import render_diff

    return "".join(render_diff(one, color=color) for one in changed)


def statistics(report: Report, format: str, options: ReportOptions) -> str:  # noqa: A002 - the option's name
    """Return the number of findings of each rule, as JSON for "json", else as a table."""
    from rlint.output.tallies import render

    return render(report, options, as_json=format == "json")
