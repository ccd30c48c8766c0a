"""Growth of the time with the size, before and after the fix, on logarithmic axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.output.verify import figures, scales, verdict_summary

if TYPE_CHECKING:
    from rlint.evidence.results import Measurement, RuleOutcome
    from rlint.output.verify.scales import LogScale

_FEWEST = 4
_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class Plane:
    """Sizes to the right, seconds upwards, in pixels."""

    across: LogScale
    up: LogScale
    width: int = 320
    height: int = 220
    left: int = 56
    right: int = 308
    top: int = 10
    bottom: int = 180

    def x(self, size: float) -> float:
        """Return the position of a size."""
        return self.left + self.across.at(size) * (self.right - self.left)

    def y(self, cost: float) -> float:
        """Return the position of a time."""
        return self.bottom - self.up.at(cost) * (self.bottom - self.top)


@dataclass(frozen=True, slots=True)
class GrowthChart:
    """The curves of one workload. `link` is the id of the element with details."""

    outcome: RuleOutcome
    link: str
    points: list[Measurement]
    plane: Plane
    curves: list[tuple[str, list[tuple[float, float]]]]
    exponents: list[tuple[str, str | None]]
    said: str


def points_of(outcome: RuleOutcome) -> list[Measurement]:
    """Return the wall times that can be drawn, by size; none if there are too few for a curve."""
    found = [
        one
        for one in outcome.measurements
        if one.claim == "time" and one.size and one.before > 0 and one.after > 0
    ]
    found.sort(key=lambda one: one.size or 0)
    return found if len(found) >= _FEWEST else []


def chart(outcome: RuleOutcome, link: str) -> GrowthChart | None:
    """Return the curves of one workload; None if there are too few points."""
    points = points_of(outcome)
    if not points:
        return None
    across = scales.around([point.size or 0 for point in points], _MARGIN)
    plane = Plane(
        across, scales.around([cost for point in points for cost in (point.before, point.after)], _MARGIN)
    )
    curves = [
        (arm, [(plane.x(point.size or 0), plane.y(getattr(point, arm))) for point in points])
        for arm in ("before", "after")
    ]
    growth = outcome.measurement("exp")
    powers = figures.exponents(growth) if growth else (None, None)
    name = verdict_summary.name(outcome)
    said = f"Median time of {name} on {outcome.device} against size; the figures are in the table below it"
    named = list(zip(("before", "after"), powers, strict=True))
    return GrowthChart(outcome, link, points, plane, curves, named, said)
