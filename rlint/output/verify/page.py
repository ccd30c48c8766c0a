"""The HTML report: one file that needs nothing else, read at a glance from the top, in full to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.markup import Markup, join, page, tag
from rlint.output.verify import details, figures, growth_chart, marks, ratio_chart, rows, verdict_summary
from rlint.output.verify.verify_style import CSS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.evidence.results import RuleOutcome, Session

_COLUMNS = (
    "Rule", "Workload", "Device", "Size", "Behaviour", "Verdict", "Before / after", "Growth", "Memory",
)  # fmt: skip
_CLAIMS = ("time", "cpu", "mem", "sync", "alloc")
_NOTHING = f">{rows.NOTHING}<"

_Linked = tuple["RuleOutcome", str]


def render(session: Session, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole file."""
    linked = [(outcome, f"outcome-{number}") for number, outcome in enumerate(session.outcomes, start=1)]
    title = f"rlint verify, {figures.date(session.date)}"
    return page(title, CSS, tag("body", _top(session), tag("main", *_sections(linked))))


def _sections(linked: Sequence[_Linked]) -> Iterable[Markup | None]:
    if not linked:
        return
    yield _gains(linked)
    yield _growth(linked)
    yield tag("section", tag("h2", "Results"), _table(linked))
    yield tag("section", tag("h2", "Details"), *(details.details(one, link) for one, link in linked))


# --- the top ---


def _top(session: Session) -> Markup:
    found = verdict_summary.counts(session) if session.outcomes else {}
    tiles = [
        tag("li", tag("b", str(number)), marks.icon(word), word, class_=None if number else "none")
        for word, number in found.items()
    ]
    machine = verdict_summary.machine_facts(session.machine)
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in machine.items()]
    reasons = [
        tag("p", f"Not run here: {verdict_summary.labels(ones)}: {reason}.", class_="soft")
        for reason, ones in verdict_summary.not_run(session).items()
    ]
    took = figures.seconds(session.seconds)
    return tag(
        "header",
        tag("h1", "rlint verify"),
        tag("p", f"{figures.date(session.date)}, in {took}", class_="soft"),
        *(tag("p", remark, class_="remark") for remark in verdict_summary.remarks(session)),
        tag("ul", *tiles, class_="counts") if tiles else tag("p", "Nothing was verified."),
        *reasons,
        tag("dl", *facts, class_="machine"),
    )


# --- the charts ---


def _gains(linked: Sequence[_Linked]) -> Markup | None:
    """The ratios: of time wherever it was measured, of anything else where it is claimed."""
    charts = []
    for claim in _CLAIMS:
        lines = ratio_chart.lines_of(linked, claim, claimed_only=claim != "time")
        for device in dict.fromkeys(line.outcome.device for line in lines):
            title = f"{rows.NOUNS[claim].capitalize()}, {rows.DEVICES.get(device, device)}"
            here = [line for line in lines if line.outcome.device == device]
            charts.append(ratio_chart.chart(here, claim, title))
    if not charts:
        return None
    text = (
        "Before divided by after, at each workload's typical size, with its 95 % interval. Right of the line "
        "at 1 the fix gains."
    )
    floor = join(
        " The band ", tag("span", class_="key", aria_hidden="true"),
        " is what the instrument makes of a program that is measured against itself.",
    )  # fmt: skip
    return tag("section", tag("h2", "Before / after"), tag("p", text, floor, class_="soft"), *charts)


def _growth(linked: Sequence[_Linked]) -> Markup | None:
    charts = [growth_chart.chart(one, link) for one, link in linked if growth_chart.points_of(one)]
    if not charts:
        return None
    text = "Median time of one run against size, on logarithmic axes; a flatter line grows more slowly."
    return tag(
        "section", tag("h2", "Growth"), tag("p", text, class_="soft"), tag("div", *charts, class_="cards")
    )


# --- the table ---


def _table(linked: Iterable[_Linked]) -> Markup:
    head = tag("tr", *(tag("th", title, scope="col", role="columnheader") for title in _COLUMNS), role="row")
    body = [_row(rows.row_of(outcome), link) for outcome, link in linked]
    # The roles remain where a phone shows each row as a block, which would take them away.
    return tag(
        "table",
        tag("thead", head, role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        class_="rows",
        role="table",
    )


def _row(row: rows.VerifyRow, link: str) -> Markup:
    outcome = row.outcome
    name = tag("span", outcome.name, class_="line soft") if outcome.name else None
    kind = marks.kind_of(outcome)
    cells = [
        tag("span", tag("a", outcome.subject, href=f"#{link}"), name),
        tag("span", outcome.workload),
        tag("span", outcome.device),
        tag("span", row.size),
        tag("span", row.behaviour),
        tag("span", marks.icon(kind), row.verdict),
        tag("span", *(tag("span", gain, class_="line") for gain in row.gains or (rows.NOTHING,))),
        tag("span", row.growth, class_="figure"),
        tag("span", row.memory, class_="figure"),
    ]
    first = tag("th", cells[0], scope="row", role="rowheader", class_="name", data_label=_COLUMNS[0])
    others = [
        tag("td", cell, role="cell", data_label=title, class_=_class_of(title, cell))
        for cell, title in zip(cells[1:], _COLUMNS[1:], strict=True)
    ]
    return tag("tr", first, *others, role="row")


def _class_of(title: str, cell: Markup) -> str | None:
    if title == "Workload":
        return "name"
    return "empty" if _NOTHING in cell else None
