"""Findings as a page: one file that needs nothing else, runs nothing, and fits a phone."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from rlint import __version__
from rlint.findings import Applicability, Heat
from rlint.output.counts import count
from rlint.output.findings_style import CSS
from rlint.output.markup import Markup, join, page, prose, tag
from rlint.output.parts import ReportParts
from rlint.output.preview import preview_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlint.findings import Finding, Fix, Problem
    from rlint.output import ReportOptions, RulePage
    from rlint.output.parts import ReportPart
    from rlint.run_data import Report
    from rlint.syntax.positions import Positions

_SPAN_ROWS = 5  # a longer span is shown by its first three lines and its last one
_DIFF_ROWS = 40
_COLUMNS = ("Rule", "Findings", "Fixable", "Measured")


def render(report: Report, options: ReportOptions) -> str:
    """Return the whole file."""
    title = f"rlint: {count(len(report.findings), 'finding')}"
    return page(title, CSS, tag("body", _top(report), tag("main", *_sections(report, options))))


def _sections(report: Report, options: ReportOptions) -> Iterator[Markup]:
    if report.problems:
        rows = [_problem(problem) for problem in report.problems]
        yield tag("section", tag("h2", "Not checked"), tag("ul", *rows, class_="problems"))
    if not report.findings:
        return
    yield tag("section", tag("h2", "Rules"), _rules(report, options))
    files = [
        _file(report, path, list(group), options)
        for path, group in groupby(report.findings, key=lambda finding: finding.path)
    ]
    yield tag("section", tag("h2", "Files"), *files)
    codes = sorted({finding.code for finding in report.findings} & options.pages.keys())
    if codes:
        yield tag("section", tag("h2", "About the rules"), *(_page(options.pages[code]) for code in codes))


# --- the top ---


def _top(report: Report) -> Markup:
    heats = Counter(finding.heat for finding in report.findings)
    fixes = Counter(finding.fix.safety for finding in report.findings if finding.fix)
    hidden = Counter(each.in_source for each in report.hidden)
    counts = [
        (len(report.findings), "findings"),
        *((heats[heat], str(heat)) for heat in sorted(Heat, reverse=True)),
        (fixes[Applicability.SAFE], "safe fixes"),
        (fixes[Applicability.UNSAFE], "unsafe fixes"),
    ]
    if hidden[False]:
        counts.append((hidden[False], "in the baseline"))
    if report.problems:
        counts.append((len(report.problems), "not checked"))
    tiles = [
        tag("li", tag("b", str(number)), word, class_=None if number else "none") for number, word in counts
    ]
    said = f"{count(report.checked, 'file')} checked by rlint {__version__}"
    clean = tag("p", "All checks passed!", class_="clean")
    nothing = not report.findings and not report.problems
    return tag(
        "header",
        tag("h1", "rlint"),
        tag("p", said, class_="soft"),
        clean if nothing else tag("ul", *tiles, class_="counts"),
    )


def _problem(problem: Problem) -> Markup:
    hint = tag("p", prose(problem.hint), class_="soft") if problem.hint else None
    return tag("li", tag("code", problem.place), " ", prose(problem.message), hint)


# --- the rules ---


def _rules(report: Report, options: ReportOptions) -> Markup:
    found = Counter(finding.code for finding in report.findings)
    fixable = Counter(finding.code for finding in report.findings if finding.fix)
    names = {finding.code: finding.name for finding in report.findings}
    head = tag("tr", *(tag("th", title, scope="col", role="columnheader") for title in _COLUMNS), role="row")
    rows = []
    for code, number in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        label = f"{code} {names[code]}"
        rule = tag("a", label, href=f"#rule-{code}") if code in options.pages else label
        cells = [str(number), str(fixable[code] or "–"), options.measured.get(code, "–")]
        others = [
            tag("td", tag("span", cell), role="cell", data_label=title)
            for cell, title in zip(cells, _COLUMNS[1:], strict=True)
        ]
        rows.append(tag("tr", tag("th", rule, scope="row", role="rowheader"), *others, role="row"))
    # The roles remain where a phone shows each row as a block, which would take them away.
    return tag(
        "table",
        tag("thead", head, role="rowgroup"),
        tag("tbody", *rows, role="rowgroup"),
        class_="rows",
        role="table",
    )


def _page(page: RulePage) -> Markup:
    from markdown_it import MarkdownIt

    # `html` off: what looks like a tag in a page is shown as text
    shown = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(page.text))
    title = tag("summary", tag("b", page.code), " ", page.name)
    # a link to what stands inside opens it
    return tag("details", title, tag("div", shown, id=f"rule-{page.code}", class_="page"), class_="rule")


# --- the files ---


def _file(report: Report, path: str, findings: Sequence[Finding], options: ReportOptions) -> Markup:
    parts = ReportParts(report)
    number = tag("span", count(len(findings), "finding"), class_="soft")
    return tag(
        "details",
        tag("summary", tag("code", path), " ", number),
        *(_finding(finding, parts, options) for finding in findings),
        open=True,
        class_="file",
    )


def _finding(finding: Finding, parts: ReportParts, options: ReportOptions) -> Markup:
    positions = parts.code(finding.path, finding.cell)
    changed = (parts.of_fix(finding.path, finding.fix) if finding.fix else None) or []
    code = (
        tag("a", finding.code, href=f"#rule-{finding.code}")
        if finding.code in options.pages
        else finding.code
    )
    facts = [("why hot", join(" → ".join(finding.chain)))] if finding.chain else []
    facts += [("help", prose(finding.advice))] if finding.advice else []
    if gain := options.measured.get(finding.code):
        facts.append(("measured", join(gain)))
    facts.append(("fix", _offer(finding.fix) if finding.fix else join("none, by hand")))
    listed = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts]
    return tag(
        "article",
        tag(
            "h3",
            tag("span", finding.place, class_="place"),
            " ",
            tag("b", code),
            f" {finding.name} ",
            tag("span", str(finding.heat), class_=f"heat {finding.heat}"),
        ),
        tag("p", prose(finding.message)),
        _code(finding, positions) if positions else None,
        tag("dl", *listed),
        _diff(changed, finding.cell.index if finding.cell else None),
    )


def _offer(fix: Fix) -> Markup:
    if fix.safety is Applicability.SAFE:
        return join(prose(fix.title), " (safe)")
    return join(prose(fix.title), " (unsafe: ", prose(fix.reason or "read the change"), ")")


def _code(finding: Finding, positions: Positions) -> Markup:
    start, end = finding.shown_start, finding.shown_end
    last = end.line - 1 if end.column == 1 and end.line > start.line else end.line
    numbers = list(range(start.line, last + 1))
    if len(numbers) > _SPAN_ROWS:
        numbers = [*numbers[:3], last]
    rows: list[Markup] = []
    for before, number in zip([numbers[0], *numbers], numbers, strict=False):
        if number > before + 1:
            rows.append(tag("span", "…", class_="row gap"))
        text = positions.line_text(number)
        first = start.column - 1 if number == start.line else len(text) - len(text.lstrip())
        behind = end.column - 1 if number == end.line else len(text.rstrip())
        parts = (_shown(text[:first]), tag("mark", _shown(text[first:behind])), _shown(text[behind:]))
        rows.append(tag("span", tag("i", str(number)), *parts, class_="row"))
    return _block(rows)


def _diff(parts: Sequence[ReportPart], here: int | None) -> Markup | None:
    kinds = {"+": "added", "-": "removed", "…": "gap"}
    rows = []
    for row in preview_of(parts, here, _DIFF_ROWS):
        mark = row.mark if row.mark in "+-" else ""
        number = tag("i", str(row.number or ""), tag("span", mark or " ", class_="mark"))
        text = f"… {row.text}".rstrip() if row.mark == "…" else _shown(row.text)
        kind = kinds.get(row.mark)
        rows.append(tag("span", number, text, class_=f"row {kind}" if kind else "row"))
    return tag("details", tag("summary", "What the fix changes"), _block(rows)) if rows else None


def _block(rows: Sequence[Markup]) -> Markup:
    # a long line scrolls inside the block, also for readers without a mouse
    return tag("pre", tag("code", *rows), tabindex="0")


def _shown(text: str) -> str:
    return text.replace("\t", "    ")
