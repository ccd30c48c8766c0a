"""Everything about one workload on one device, to unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.evidence.results import Verdict
from rlint.output.markup import Markup, join, prose, tag
from rlint.output.verify import figures, marks, rows, verdict_summary

if TYPE_CHECKING:
    from rlint.evidence.results import Behaviour, Measurement, RuleOutcome

_MEASURES = ("Measure", "Size", "Before", "After", "Before / after", "Against itself", "Verdict", "Samples")


def details(outcome: RuleOutcome, link: str) -> Markup:
    """Return the block, unfolded where something is wrong."""
    kind = marks.kind_of(outcome)
    wrong = outcome.failed or outcome.verdict in (Verdict.DIFFERENT, Verdict.SLOWER, Verdict.NOT_ENOUGH)
    head = tag(
        "summary",
        marks.icon(kind),
        tag("b", outcome.subject),
        f"{verdict_summary.label(outcome).removeprefix(outcome.subject)}: ",
        tag("span", rows.verdict_words(outcome), class_="verdict"),
    )
    promised = verdict_summary.promised(outcome)
    title = tag("p", outcome.title, f" ({outcome.name})" if outcome.name else None, class_="title")
    return tag(
        "details",
        head,
        title,
        *(tag("p", prose(line), class_="reason") for line in verdict_summary.reasons(outcome)),
        _behaviour(outcome.behaviour) if outcome.behaviour else None,
        _measurements(outcome) if outcome.measurements else None,
        tag("p", f"Promised and found: {promised}") if promised else None,
        class_="outcome",
        id=link,
        open=wrong,
    )


def _behaviour(behaviour: Behaviour) -> Markup:
    sizes = ", ".join(f"{size:,}" for size in behaviour.sizes)
    compared = f"{behaviour.cases:,} runs compared: {behaviour.seeds} seeds, sizes {sizes}"
    if behaviour.larger:
        compared += f"; once at {', '.join(f'{size:,}' for size in behaviour.larger)}"
    if behaviour.variants:
        compared += f"; also {', '.join(behaviour.variants)}"
    groups = verdict_summary.grouped(behaviour.differences)
    told = [*behaviour.notes, *(f"not compared, {what}: {why}" for what, why in behaviour.excluded.items())]
    notes = tag("ul", *(tag("li", prose(note)) for note in told)) if told else None
    found = [
        tag(
            "li",
            tag("b", group.first.kind),
            " of ",
            tag("code", group.first.path),
            f" {group.where}; {group.cause}",
            tag(
                "dl",
                tag("dt", "before"),
                _value(group.first.before),
                tag("dt", "after"),
                _value(group.first.after),
            ),
        )
        for group in groups
    ]
    differences = tag("ul", *found, class_="differences") if found else None
    same = behaviour.cases and behaviour.enough
    verdict = "Behaviour differs" if found else "Same behaviour" if same else "Behaviour"
    return join(tag("p", tag("b", verdict), f" ({compared})"), differences, notes)


def _value(text: str) -> Markup:
    return tag("dd", tag("code", text))


def _measurements(outcome: RuleOutcome) -> Markup:
    head = tag("tr", *(tag("th", title, scope="col") for title in _MEASURES))
    body = [_measurement(measured, outcome) for measured in outcome.measurements]
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="numbers")
    return tag("div", table, class_="scrolls", tabindex=0, role="region", aria_label="Measurements")


def _measurement(measured: Measurement, outcome: RuleOutcome) -> Markup:
    growth = measured.claim == "exp"
    before, after = (
        figures.exponents(measured)
        if growth
        else (figures.amount(measured.before, measured.unit), figures.amount(measured.after, measured.unit))
    )
    name = rows.NOUNS.get(measured.claim, measured.claim)
    return tag(
        "tr",
        tag("th", name if measured.claimed else f"{name} (not claimed)", scope="row"),
        tag("td", figures.size(measured.size, outcome.unit) if measured.size is not None else "all"),
        tag("td", before),
        tag("td", after),
        tag("td", rows.NOTHING if growth else rows.gain_words(measured, named=False)),
        tag("td", figures.ratio_text(measured.control) if measured.control else rows.NOTHING),
        tag("td", rows.measured_words(measured)),
        tag("td", f"{measured.samples:,}"),
    )
