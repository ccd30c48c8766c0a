"""Findings as a self-contained page without scripts, which fits a phone."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from rlint import __version__
from rlint.findings import Applicability, Heat
from rlint.output import templates
from rlint.output.counts import count
from rlint.output.parts import ReportParts
from rlint.output.preview import preview_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from rlint.findings import Finding
    from rlint.output import ReportOptions
    from rlint.parsing.positions import Positions
    from rlint.run_data import Report

_SPAN_ROWS = 5  # of a longer span, the first three lines and the last one are shown
_DIFF_ROWS = 40
_KINDS = {"+": " added", "-": " removed", "…": " gap"}
_COLUMNS = ("Rule", "Findings", "Fixable", "Measured")


def render(report: Report, options: ReportOptions) -> str:
    """Return the whole file."""
    parts = ReportParts(report)
    files = [
        (path, count(len(group), "finding"), [_shown(finding, parts) for finding in group])
        for path, found in groupby(report.findings, key=lambda finding: finding.path)
        if (group := list(found))
    ]
    codes = sorted({finding.code for finding in report.findings} & options.pages.keys())
    return templates.page(
        "findings.html.jinja",
        f"rlint: {count(len(report.findings), 'finding')}",
        "findings.css",
        checked=count(report.checked, "file"),
        version=__version__,
        counts=_counts(report),
        findings=report.findings,
        problems=report.problems,
        columns=_COLUMNS,
        rules=list(_rules(report, options)),
        files=files,
        measured=options.measured,
        pages=options.pages,
        about=[(options.pages[code], _html(options.pages[code].text)) for code in codes],
    )


def _counts(report: Report) -> list[tuple[int, str]]:
    heats = Counter(finding.heat for finding in report.findings)
    fixes = Counter(finding.fix.safety for finding in report.findings if finding.fix)
    hidden = sum(1 for each in report.hidden if not each.in_source)
    return [
        (len(report.findings), "findings"),
        *((heats[heat], str(heat)) for heat in sorted(Heat, reverse=True)),
        (fixes[Applicability.SAFE], "safe fixes"),
        (fixes[Applicability.UNSAFE], "unsafe fixes"),
        *([(hidden, "in the baseline")] if hidden else []),
        *([(len(report.problems), "not checked")] if report.problems else []),
    ]


def _rules(report: Report, options: ReportOptions) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the code and name of each reported rule, with the number of findings: the most frequent first."""
    found = Counter(finding.code for finding in report.findings)
    fixable = Counter(finding.code for finding in report.findings if finding.fix)
    names = {finding.code: finding.name for finding in report.findings}
    for code, number in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        yield code, names[code], [str(number), str(fixable[code] or "–"), options.measured.get(code, "–")]


def _html(text: str) -> Markup:
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    # `html` off: HTML tags in a page are shown as text
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704


def _shown(
    finding: Finding, parts: ReportParts
) -> tuple[Finding, list[tuple[int | None, str, str, str]], list[tuple[str, str, str, str]]]:
    """Return a finding with the rows of its code, and of what its fix changes."""
    positions = parts.code(finding.path, finding.cell)
    changed = (parts.of_fix(finding.path, finding.fix) if finding.fix else None) or []
    diff = []
    for row in preview_of(changed, finding.cell.index if finding.cell else None, _DIFF_ROWS):
        mark = row.mark if row.mark in "+-" else ""
        text = f"… {row.text}".rstrip() if row.mark == "…" else _spaced(row.text)
        diff.append((str(row.number or ""), mark or " ", text, _KINDS.get(row.mark, "")))
    return finding, list(_code_rows(finding, positions)) if positions else [], diff


def _code_rows(finding: Finding, positions: Positions) -> Iterator[tuple[int | None, str, str, str]]:
    """Yield the lines of a finding: number, and text before, in and after its span; a gap has no number."""
    start, end = finding.shown_start, finding.shown_end
    last = end.line - 1 if end.column == 1 and end.line > start.line else end.line
    numbers = list(range(start.line, last + 1))
    if len(numbers) > _SPAN_ROWS:
        numbers = [*numbers[:3], last]
    for before, number in zip([numbers[0], *numbers], numbers, strict=False):
        if number > before + 1:
            yield None, "", "", ""
        text = positions.line_text(number)
        first = start.column - 1 if number == start.line else len(text) - len(text.lstrip())
        after = end.column - 1 if number == end.line else len(text.rstrip())
        yield number, _spaced(text[:first]), _spaced(text[first:after]), _spaced(text[after:])


def _spaced(text: str) -> str:
    return text.replace("\t", "    ")
