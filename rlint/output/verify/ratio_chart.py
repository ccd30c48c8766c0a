"""Ratios with their intervals on a logarithmic axis: a row each, wide or narrow as the page is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.output.verify import marks, rows, scales
from rlint.output.verify.markup import Markup, join, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.harness.results import Measurement, Outcome, Ratio
    from rlint.output.verify.scales import LogScale

_HEIGHT = 28  # pixels of a row; positions along it are shares, so that text keeps its size on a phone
_MIDDLE = _HEIGHT // 2
_TICKS = 7
_MARGIN = 1.12


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the chart."""

    outcome: Outcome
    measured: Measurement
    link: str
    """The id of the place that says more."""


def lines_of(outcomes: Iterable[tuple[Outcome, str]], claim: str, *, claimed_only: bool) -> list[Line]:
    """Return a row for each outcome that has a ratio of `claim` at its typical size; with each its link."""
    found = []
    for outcome, link in outcomes:
        measured = outcome.measurement(claim)
        if measured is None or measured.ratio is None or math.isnan(measured.ratio.value):
            continue
        if measured.claimed or not claimed_only:
            found.append(Line(outcome, measured, link))
    return found


def chart(lines: Sequence[Line], claim: str, title: str) -> Markup:
    """Return the chart of rows that share a measure, worse to the left of 1 and better to the right."""
    ratios = [line.measured.ratio for line in lines if line.measured.ratio]
    controls = [line.measured.control for line in lines if line.measured.control]
    bounds = [bound for ratio in (*ratios, *controls) for bound in (ratio.low, ratio.value, ratio.high)]
    scale = scales.around([0.8, 1.25, *bounds], _MARGIN)
    ticks = scale.ticks(_TICKS)
    drawn = [_row(line, claim, scale, ticks) for line in lines]
    return tag(
        "figure",
        tag("figcaption", title),
        tag("div", *drawn, _axis(scale, ticks, claim), class_="ratios", role="list"),
        class_="chart",
    )


def _row(line: Line, claim: str, scale: LogScale, ticks: Sequence[float]) -> Markup:
    outcome, measured = line.outcome, line.measured
    words = rows.gain_words(measured, named=False)
    verdict = rows.measured_words(measured)
    said = f"{outcome.subject} {outcome.workload}: {words}, {verdict}"
    plot = tag(
        "svg",
        _grid(scale, ticks),
        _floor(measured.control, scale) if measured.control else None,
        _line_at(scale.at(1), "one"),
        _interval(measured, scale),
        class_="plot",
        role="img",
        aria_label=said,
        width="100%",
        height=_HEIGHT,
    )
    aside = None if measured.claimed else tag("small", f"{rows.NOUNS[claim]} is not claimed")
    name = tag("a", tag("b", outcome.subject), f" {outcome.workload}", href=f"#{line.link}")
    return tag(
        "div",
        tag("div", name, aside, class_="who"),
        plot,
        tag("div", words, class_="figure", title=verdict),
        class_="ratio-row",
        role="listitem",
    )


def _interval(measured: Measurement, scale: LogScale) -> Markup:
    ratio = measured.ratio
    assert ratio is not None, "rows without a ratio are not drawn"
    kind = marks.class_of(measured.verdict.value)
    if not math.isfinite(ratio.value):
        return marks.mark(measured.verdict, scale.at(math.inf))
    low, high = scale.at(ratio.low), scale.at(ratio.high)
    whisker = None
    if high - low > 1e-6:
        whisker = tag(
            "line", class_=f"whisker {kind}", x1=_share(low), x2=_share(high), y1=_MIDDLE, y2=_MIDDLE
        )
        ends = [
            tag("line", class_=f"whisker {kind}", x1=_share(x), x2=_share(x), y1=_MIDDLE - 5, y2=_MIDDLE + 5)
            for x in (low, high)
        ]
        whisker = join(whisker, *ends)
    return join(whisker, marks.mark(measured.verdict, scale.at(ratio.value)))


def _floor(control: Ratio, scale: LogScale) -> Markup:
    low, high = scale.at(control.low), scale.at(control.high)
    return tag("rect", class_="floor", x=_share(low), width=_share(high - low), y=0, height=_HEIGHT)


def _grid(scale: LogScale, ticks: Sequence[float]) -> Markup:
    return join(*(_line_at(scale.at(tick), "grid") for tick in ticks))


def _line_at(position: float, kind: str) -> Markup:
    return tag("line", class_=kind, x1=_share(position), x2=_share(position), y1=0, y2=_HEIGHT)


def _axis(scale: LogScale, ticks: Sequence[float], claim: str) -> Markup:
    """The row of tick labels, and what either side of 1 means."""
    labels = []
    for tick in ticks:
        at = scale.at(tick)
        anchor = "start" if at < 0.04 else "end" if at > 0.96 else "middle"
        labels.append(tag("text", f"{tick:g}×", x=_share(at), y=12, text_anchor=anchor))
    plot = tag("svg", *labels, class_="plot", width="100%", height=16, aria_hidden="true")
    sides = tag(
        "div",
        tag("span", f"← {rows.WORSE[claim]} after the fix"),
        tag("span", f"{rows.BETTER[claim]} after the fix →"),
        class_="sides",
    )
    return tag(
        "div", tag("div", plot, sides, class_="axis"), class_="ratio-row axis-row", role="presentation"
    )


def _share(position: float) -> str:
    return f"{100 * position:.2f}%"
