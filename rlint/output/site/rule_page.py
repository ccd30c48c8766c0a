"""The page of one rule, with its evidence drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.output import evidence_lines, measured_page
from rlint.output.markup import Markup, prose, tag
from rlint.output.site.frame import frame
from rlint.output.site.markdown_html import to_html
from rlint.output.verify import details, figures, growth_chart, ratio_chart, rows
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from rlint.evidence.recorded import Evidence, Recording
    from rlint.evidence.results import RuleOutcome

_REFERENCES = "\n## References\n"
_CLAIMS = ("time", "cpu", "mem", "sync", "alloc")


def render(evidence: Evidence, stale: Sequence[str]) -> str:
    """Return the page as a file."""
    entry = evidence.entry
    summary, _, rest = entry.page.partition("\n")
    before, heading, references = rest.rpartition(_REFERENCES)
    if not heading:
        before, references = rest, ""
    return frame(
        f"{entry.code} {entry.name} – rlint",
        summary,
        tag("h1", f"{entry.name} ", tag("code", entry.code)),
        tag("p", prose(summary), class_="lead"),
        _facts(evidence),
        to_html(before),
        _measured(evidence, stale) if entry.fixtures is not None else None,
        to_html(heading + references),
        up="../",
    )


def _facts(evidence: Evidence) -> Markup:
    entry = evidence.entry
    facts = {
        "Family": entry.family,
        "Fix": measured_page.fix_words(entry.fixes),
        "Default": "opt-in" if entry.opt_in else "on",
        "Comes with": entry.origin,
    }
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", said)) for name, said in facts.items()), class_="facts"
    )


def _measured(evidence: Evidence, stale: Sequence[str]) -> Markup:
    said = evidence_lines.line(evidence) or "not yet"
    notes = [f"Not what the rule is now: {text}." for text in stale]
    if evidence.gain is Gain.NONE:
        notes.append("Since no gain was measured, the rule is off unless it is selected.")
    notes += evidence.unreadable
    return tag(
        "section",
        tag("h2", "Measured", id="measured"),
        tag("p", f"{said[0].upper()}{said[1:]}."),
        *(tag("p", note, class_="remark") for note in notes),
        *(_recording(recording) for recording in evidence.recordings),
    )


def _recording(recording: Recording) -> Markup:
    linked = [
        (outcome, f"{recording.device}-{number}")
        for number, outcome in enumerate(recording.outcomes, start=1)
    ]
    growth = [growth_chart.chart(one, link) for one, link in linked if growth_chart.points_of(one)]
    explained = "Before divided by after, with its 95 % interval: right of the line at 1 the fix gains."
    device = rows.DEVICES.get(recording.device, recording.device)
    return tag(
        "section",
        tag("h3", f"On {device}", id=f"measured-{recording.device}"),
        tag("p", measured_page.circumstances(recording), class_="soft"),
        tag("p", explained, class_="soft"),
        *(chart for outcome, link in linked for chart in _ratios(outcome, link)),
        tag("div", *growth, class_="cards") if growth else None,
        tag("h4", "Figures"),
        *(details.details(outcome, link) for outcome, link in linked),
    )


def _ratios(outcome: RuleOutcome, link: str) -> Iterator[Markup]:
    """Draw the ratios of what one workload claims, size by size."""
    for claim in _CLAIMS:
        lines = []
        for found in outcome.measurements:
            ratio = rows.ratio_of(found) if found.claim == claim and found.claimed else None
            if ratio is not None and found.size is not None:
                here = replace(outcome, subject=figures.size(found.size, outcome.unit), workload="")
                lines.append(ratio_chart.Line(here, found, ratio, link))
        if lines:
            lines.sort(key=lambda line: line.measured.size or 0)
            yield ratio_chart.chart(lines, claim, f"{outcome.title}: {evidence_lines.NAMES[claim]}")
