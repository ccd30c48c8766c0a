"""The page of one rule, with charts of its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlint.output import evidence_lines, measured_page, templates
from rlint.output.site.markdown_html import to_html
from rlint.output.verify import figures, growth_chart, ratio_chart, rows
from rlint.output.verify.page import CLAIMS, TOOLS
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from rlint.evidence.recorded import Evidence, Recording
    from rlint.evidence.results import RuleOutcome
    from rlint.output.verify.ratio_chart import RatioChart

_REFERENCES = "\n## References\n"


def render(evidence: Evidence, stale: Sequence[str]) -> str:
    """Return the page as a file."""
    entry = evidence.entry
    summary, _, rest = entry.page.partition("\n")
    before, heading, references = rest.rpartition(_REFERENCES)
    if not heading:
        before, references = rest, ""
    said = evidence_lines.line(evidence) or "not yet"
    notes = [f"Recorded for an earlier version of the rule: {text}." for text in stale]
    if evidence.gain is Gain.NONE:
        notes.append("No gain was measured, so the rule is off unless selected.")
    return templates.page(
        "rule.html.jinja",
        f"{entry.code} {entry.name} – rlint",
        "verify.css",
        "site.css",
        entry=entry,
        summary=summary,
        facts={
            "Family": entry.family,
            "Fix": measured_page.fix_words(entry.fixes),
            "Default": "opt-in" if entry.opt_in else "on",
            "Comes with": entry.origin,
        },
        before=to_html(before),
        references=to_html(heading + references),
        gained=f"{said[0].upper()}{said[1:]}",
        notes=[*notes, *evidence.unreadable],
        recordings=[_recording(recording) for recording in evidence.recordings],
        **TOOLS,
    )


def _recording(recording: Recording) -> dict[str, Any]:
    linked = [
        (outcome, f"{recording.device}-{number}")
        for number, outcome in enumerate(recording.outcomes, start=1)
    ]
    return {
        "device": recording.device,
        "circumstances": measured_page.circumstances(recording),
        "ratios": [chart for outcome, link in linked for chart in _ratios(outcome, link)],
        "curves": [chart for one, link in linked if (chart := growth_chart.chart(one, link))],
        "linked": linked,
    }


def _ratios(outcome: RuleOutcome, link: str) -> Iterator[RatioChart]:
    """Yield the ratios of what one workload claims, size by size."""
    for claim in CLAIMS:
        lines = []
        for found in outcome.measurements:
            ratio = rows.ratio_of(found) if found.claim == claim and found.claimed else None
            if ratio is not None and found.size is not None:
                here = replace(outcome, subject=figures.size(found.size, outcome.unit), workload="")
                lines.append(ratio_chart.Line(here, found, ratio, link))
        if lines:
            lines.sort(key=lambda line: line.measured.size or 0)
            yield ratio_chart.chart(lines, claim, f"{outcome.title}: {evidence_lines.NAMES[claim]}")
