"""Print reports: one module per format, loaded when it is asked for.

Answers how findings and fixes look to people and programs. Finds and decides nothing.
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

FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
"""Formats that people read in a terminal."""
LISTS_HIDDEN = frozenset({"sarif"})
"""Formats that list what comments hide, too."""

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""The names that `--output-format` takes, the default first."""


RANKED = frozenset({"full", "grouped"})
"""Formats that show what matters most first."""
SHOWS_MEASURED = frozenset({"full", "grouped", "json", "json-lines", "sarif", "html"})
"""Formats that say what rules' fixes were measured to gain."""
SHOWS_EDITS = frozenset({"full", "json", "json-lines", "rdjson", "sarif", "html"})
"""Formats that show the edits of fixes."""
SHOWS_PAGES = frozenset({"sarif", "html"})
"""Formats that need the pages of the rules that found something."""


@frozen
class RulePage:
    """What is known of a rule beside its findings. `text` is Markdown; `url` leads to a page about it."""

    code: str
    name: str
    family: str
    summary: str
    text: str
    url: str | None = None
    opt_in: bool = False


@frozen
class ReportOptions:
    """What a reader wants to see of a report."""

    unsafe_fixes: bool = False
    """Unsafe fixes count as fixable."""
    color: bool = False
    width: int | None = None
    """Columns of the terminal; longer lines of code are cut. None: as long as they are."""
    fixed: int = 0
    """How many findings were fixed before this report was made."""
    gone: int = 0
    """How many went with the fixes of others."""
    new_fixed: int = 0
    """How many of the fixed were not there at first: other fixes brought them to light."""
    new_left: int = 0
    """How many of the findings of the report were not there at first."""
    fold: bool = False
    """Show the first findings of a rule alone, of the others only where they are, and of those of low impact
    only how many there are.
    """
    summary: bool = True
    """End with how much was found, in the formats for people."""
    measured: Mapping[str, str] = field(default_factory=dict)
    """What is known of the gain of rules' fixes, by code; shown by the formats that show everything."""
    heating: Heating | None = None
    """What a profile says of the findings and of the run."""
    pages: Mapping[str, RulePage] = field(default_factory=dict)
    """The pages of the rules that found something, by code; for the formats in SHOWS_PAGES."""
    rule_url: str | None = None
    """The URL that the pages of `rlint site` are published below, if they are."""

    def url_of(self, code: str) -> str | None:
        """Return the URL of a rule's page, where one is published."""
        return f"{self.rule_url.rstrip('/')}/{code}.html" if self.rule_url else None


def reporter(format: str) -> Callable[[Report, ReportOptions], str]:  # noqa: A002 - the option's name
    """Return the function that renders a report in one of FORMATS, final line end included."""
    render: Callable[[Report, ReportOptions], str]
    render = importlib.import_module(f"rlint.output.{_MODULES[format]}").render
    return render


def diff(changed: Iterable[Changed], *, color: bool = False) -> str:
    """Return one unified diff per changed file, as `patch -p0` reads it if not coloured."""
    from rlint.output.unified import render_diff

    return "".join(render_diff(one, color=color) for one in changed)


def statistics(report: Report, format: str, options: ReportOptions) -> str:  # noqa: A002 - the option's name
    """Return how often each rule found something, as JSON for "json", else as a table."""
    from rlint.output.tallies import render

    return render(report, options, as_json=format == "json")
