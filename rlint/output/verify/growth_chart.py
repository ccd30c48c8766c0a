"""How the time grows with the size, before and after the fix, on logarithmic axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.output.markup import Markup, join, tag
from rlint.output.verify import figures, scales, verdict_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.evidence.results import Measurement, RuleOutcome
    from rlint.output.verify.scales import LogScale

_WIDTH, _HEIGHT = 320, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 40
_FEWEST = 4
_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class _Plane:
    """Sizes to the right, seconds upwards, in pixels."""

    across: LogScale
    up: LogScale

    def x(self, size: float) -> float:
        return _LEFT + self.across.at(size) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, cost: float) -> float:
        return _HEIGHT - _BOTTOM - self.up.at(cost) * (_HEIGHT - _TOP - _BOTTOM)


def points_of(outcome: RuleOutcome) -> list[Measurement]:
    """Return the wall times that can be drawn, by size; none where there are too few for a curve."""
    found = [
        one
        for one in outcome.measurements
        if one.claim == "time" and one.size and one.before > 0 and one.after > 0
    ]
    found.sort(key=lambda one: one.size or 0)
    return found if len(found) >= _FEWEST else []


def chart(outcome: RuleOutcome, link: str) -> Markup:
    """Return the curves of one workload with a legend and the figures behind them."""
    points = points_of(outcome)
    costs = [cost for point in points for cost in (point.before, point.after)]
    plane = _Plane(
        scales.around([point.size or 0 for point in points], _MARGIN), scales.around(costs, _MARGIN)
    )
    name = verdict_summary.name(outcome)
    said = f"Median time of {name} on {outcome.device} against size; the figures are in the table below it"
    drawn = tag(
        "svg",
        _axes(plane, outcome.unit),
        _curve(plane, [(point.size or 0, point.before) for point in points], "before"),
        _curve(plane, [(point.size or 0, point.after) for point in points], "after"),
        class_="curves",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=said,
    )
    heading = tag(
        "figcaption",
        tag("a", tag("b", outcome.subject), f" {outcome.workload}", href=f"#{link}"),
        f", {outcome.device}",
    )
    return tag(
        "figure", heading, _legend(outcome), drawn, _table(points, outcome.unit), class_="chart growth"
    )


def _axes(plane: _Plane, unit: str) -> Markup:
    bottom = _HEIGHT - _BOTTOM
    parts = []
    for tick in plane.across.ticks(5):
        x = plane.x(tick)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=_TOP, y2=bottom))
        parts.append(tag("text", figures.short_count(tick), x=x, y=bottom + 15, text_anchor="middle"))
    for tick in plane.up.ticks(5):
        y = plane.y(tick)
        parts.append(tag("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y))
        parts.append(tag("text", figures.round_seconds(tick), x=_LEFT - 6, y=y + 4, text_anchor="end"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(tag("text", unit, class_="axis-name", x=middle, y=_HEIGHT - 6, text_anchor="middle"))
    return join(*parts)


def _curve(plane: _Plane, points: Sequence[tuple[float, float]], arm: str) -> Markup:
    path = " ".join(f"{plane.x(size):.1f},{plane.y(cost):.1f}" for size, cost in points)
    dots = [_dot(plane.x(size), plane.y(cost), arm) for size, cost in points]
    return tag("g", tag("polyline", points=path), *dots, class_=f"curve {arm}")


def _dot(x: float, y: float, arm: str) -> Markup:
    if arm == "before":
        return tag("circle", cx=x, cy=y, r=3.5)
    return tag("rect", x=x - 3.5, y=y - 3.5, width=7, height=7)


def _legend(outcome: RuleOutcome) -> Markup:
    growth = outcome.measurement("exp")
    powers = figures.exponents(growth) if growth else (None, None)
    items = []
    for arm, power in zip(("before", "after"), powers, strict=True):
        line = tag("line", x1=-14, x2=14, y1=0, y2=0)
        sample = tag("svg", tag("g", line, _dot(0, 0, arm), class_=f"curve {arm}"), viewBox="-15 -6 30 12",
                     class_="sample", aria_hidden="true")  # fmt: skip
        exponent = tag("span", ": n", tag("sup", power), class_="exponent") if power is not None else None
        items.append(tag("span", sample, arm, exponent))
    return tag("div", *items, class_="legend")


def _table(points: Sequence[Measurement], unit: str) -> Markup:
    head = tag("tr", *(tag("th", title, scope="col") for title in (unit, "before", "after", "ratio")))
    body = [
        tag(
            "tr",
            tag("th", f"{point.size:,}", scope="row"),
            tag("td", figures.amount(point.before, point.unit)),
            tag("td", figures.amount(point.after, point.unit)),
            tag("td", figures.ratio_text(point.ratio) if point.ratio else None),
        )
        for point in points
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="numbers")
    return tag("details", tag("summary", "Figures"), tag("div", table, class_="scrolls"))
