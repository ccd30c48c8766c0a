"""Rules and problems in a SARIF file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlint.findings import Problem
    from rlint.output import ReportOptions, RulePage

NOTIFICATIONS = [
    {"id": "invalid-file", "shortDescription": {"text": "A file that could not be read, parsed or written."}},
    {"id": "internal-error", "shortDescription": {"text": "A bug in rlint; other files were checked."}},
]
_HEADING = re.compile(r"^## (.*)\n", re.MULTILINE)


def notification_of(problem: Problem) -> str:
    """Return which of NOTIFICATIONS a problem is."""
    return "internal-error" if problem.is_bug else "invalid-file"


def rule_object(code: str, options: ReportOptions) -> dict[str, Any]:
    """Return a rule with its page, as far as it is known."""
    page = options.pages.get(code)
    if page is None:
        return {"id": code}
    rule: dict[str, Any] = {
        "id": code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": _what(page)},
        "help": {"text": page.text, "markdown": page.text},
        "defaultConfiguration": {"level": "warning", "enabled": not page.opt_in},
        "properties": {"tags": ["performance", page.family], "problem.severity": "warning"},
    }
    if url := options.url_of(code) or page.url:
        rule["helpUri"] = url
    return rule


def _what(page: RulePage) -> str:
    """Return the section that says what the rule does, in one line; the summary if there is none."""
    parts = _HEADING.split(page.text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return " ".join(sections.get("What it does", page.summary).split())
