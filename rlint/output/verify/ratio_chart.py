"""Ratios with their intervals on a logarithmic axis: a row each, wide or narrow as the page is.

Positions along a row are shares of its width, so that text and signs keep their size on a phone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.output.markup import Markup, join, tag
from rlint.output.verify import marks, rows, scales

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.evidence.results import Measurement, Ratio, RuleOutcome
    from rlint.output.verify.scales import LogScale

_TICKS = 6  # as many as fit on a phone
_MARGIN = 1.12
_ROOM = 4.0
_POINT = 1e-6


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the chart."""

    outcome: RuleOutcome
    measured: Measurement
    ratio: Ratio
    link: str
    """The id of the place that says more."""


def lines_of(outcomes: Iterable[tuple[RuleOutcome, str]], claim: str, *, claimed_only: bool) -> list[Line]:
    """Return a row for each outcome with a ratio of `claim` at its typical size, the claimed ones first."""
    found = []
    for outcome, link in outcomes:
        measured = outcome.measurement(claim)
        ratio = rows.ratio_of(measured) if measured else None
        if measured is None or ratio is None or math.isnan(ratio.value):
            continue
        if measured.claimed or not claimed_only:
            found.append(Line(outcome, measured, ratio, link))
    return sorted(found, key=lambda line: not line.measured.claimed)


def chart(lines: Sequence[Line], claim: str, title: str) -> Markup:
    """Return the chart of rows that share a measure, worse to the left of 1 and better to the right."""
    scale = _scale(lines)
    ticks = scale.ticks(_TICKS)
    drawn = [_row(line, claim, scale, ticks) for line in lines]
    return tag(
        "figure",
        tag("figcaption", title),
        tag("div", *drawn, _axis(scale, ticks, claim), class_="ratios", role="list"),
        class_="chart",
    )


def _scale(lines: Sequence[Line]) -> LogScale:
    """The axis that holds every interval, and has room at an end where a ratio has none."""
    ratios = [ratio for line in lines for ratio in (line.ratio, line.measured.control) if ratio]
    bounds = [0.8, 1.25, *(bound for one in ratios for bound in (one.low, one.value, one.high))]
    finite = [bound for bound in bounds if 0 < bound < math.inf]
    low, high = min(finite), max(finite)
    finite += [high * _ROOM] if math.inf in bounds else []
    finite += [low / _ROOM] if 0.0 in bounds else []
    return scales.around(finite, _MARGIN)


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
        _interval(line, scale),
        class_="plot",
        role="img",
        aria_label=said,
    )
    aside = None if measured.claimed else tag("small", f"{rows.NOUNS[claim]} is not claimed")
    name = tag("a", tag("b", outcome.subject), f" {outcome.workload}", href=f"#{line.link}")
    return tag(
        "div",
        tag("div", name, aside, class_="who"),
        tag("div", plot, class_="track"),
        tag("div", words, class_="figure", title=verdict),
        class_="ratio-row",
        role="listitem",
    )


def _interval(line: Line, scale: LogScale) -> Markup:
    measured, ratio = line.measured, line.ratio
    kind = marks.class_of(measured.verdict.value)
    low, high = scale.at(ratio.low), scale.at(ratio.high)
    sign = marks.mark(measured.verdict, scale.at(ratio.value))
    if high - low < _POINT:
        return sign
    style = f"whisker {kind}"
    whisker = tag("line", class_=style, x1=_share(low), x2=_share(high), y1="50%", y2="50%")
    end = tag("line", class_=style, x1=0, x2=0, y1=-5, y2=5)
    return join(whisker, marks.at(low, end), marks.at(high, end), sign)


def _floor(control: Ratio, scale: LogScale) -> Markup:
    low, high = scale.at(control.low), scale.at(control.high)
    return tag("rect", class_="floor", x=_share(low), width=_share(high - low), y=0, height="100%")


def _grid(scale: LogScale, ticks: Sequence[float]) -> Markup:
    return join(*(_line_at(scale.at(tick), "grid") for tick in ticks))


def _line_at(position: float, kind: str) -> Markup:
    return tag("line", class_=kind, x1=_share(position), x2=_share(position), y1=0, y2="100%")


def _axis(scale: LogScale, ticks: Sequence[float], claim: str) -> Markup:
    """The row of tick labels, and what either side of 1 means."""
    labels = []
    for tick in ticks:
        at = scale.at(tick)
        anchor = "start" if at < 0.04 else "end" if at > 0.96 else "middle"
        labels.append(tag("text", f"{tick:,.10g}×", x=_share(at), y=12, text_anchor=anchor))
    plot = tag("svg", *labels, class_="plot", aria_hidden="true")
    sides = tag(
        "div",
        tag("span", f"← {rows.WORSE[claim]}"),
        tag("span", f"{rows.BETTER[claim]} →"),
        class_="sides",
    )
    return tag(
        "div",
        tag("div", tag("div", plot, class_="track labels"), sides, class_="axis"),
        class_="ratio-row axis-row",
        role="presentation",
    )


def _share(position: float) -> str:
    return f"{100 * position:.2f}%"
