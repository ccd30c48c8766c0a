"""The HTML report: one self-contained file, with an overview first, then all details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlint.output import templates
from rlint.output.verify import details, figures, growth_chart, marks, ratio_chart, rows, verdict_summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlint.evidence.results import RuleOutcome, Session
    from rlint.output.verify.ratio_chart import RatioChart

_COLUMNS = (
    "Rule", "Workload", "Device", "Size", "Behaviour", "Verdict", "Before / after", "Growth", "Memory",
)  # fmt: skip
CLAIMS = ("time", "cpu", "mem", "sync", "alloc")
TOOLS: dict[str, Any] = {
    "details": details, "figures": figures, "marks": marks, "rows": rows, "verdict_summary": verdict_summary,
}  # fmt: skip
"""Functions that the templates of measurements use."""


def render(session: Session, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole file."""
    linked = [(outcome, f"outcome-{number}") for number, outcome in enumerate(session.outcomes, start=1)]
    return templates.page(
        "verify.html.jinja",
        f"rlint verify, {figures.date(session.date)}",
        "verify.css",
        session=session,
        linked=linked,
        counts=verdict_summary.counts(session),
        columns=_COLUMNS,
        ratios=list(_ratios(linked)),
        curves=[chart for one, link in linked if (chart := growth_chart.chart(one, link))],
        **TOOLS,
    )


def _ratios(linked: Sequence[tuple[RuleOutcome, str]]) -> Iterator[RatioChart]:
    """Yield the ratios: of time wherever it was measured, of other quantities if they are claimed."""
    for claim in CLAIMS:
        lines = ratio_chart.lines_of(linked, claim, claimed_only=claim != "time")
        for device in dict.fromkeys(line.outcome.device for line in lines):
            title = f"{rows.NOUNS[claim].capitalize()}, {rows.DEVICES.get(device, device)}"
            here = [line for line in lines if line.outcome.device == device]
            yield ratio_chart.chart(here, claim, title)
