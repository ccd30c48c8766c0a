"""Ratios with their intervals on a logarithmic axis: a row each, as wide as the page.

Positions along a row are shares of its width, so that text and signs keep their size on a phone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.output.verify import rows, scales

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.evidence.results import Measurement, Ratio, RuleOutcome
    from rlint.output.verify.scales import LogScale

_TICKS = 6  # as many as fit on a phone
_MARGIN = 1.12
_ROOM = 4.0


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the chart."""

    outcome: RuleOutcome
    measured: Measurement
    ratio: Ratio
    link: str
    """The id of the element with details."""


@dataclass(frozen=True, slots=True)
class RatioChart:
    """Rows with the same quantity, worse to the left of 1 and better to the right."""

    lines: Sequence[Line]
    claim: str
    title: str
    scale: LogScale
    ticks: list[float]
    point: float = 1e-6
    """The widest interval that is shown as a point."""


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


def chart(lines: Sequence[Line], claim: str, title: str) -> RatioChart:
    """Return the chart of rows with the same quantity."""
    scale = _scale(lines)
    return RatioChart(lines, claim, title, scale, scale.ticks(_TICKS))


def _scale(lines: Sequence[Line]) -> LogScale:
    """Return the axis that contains every interval, with space at an end where a ratio has none."""
    ratios = [ratio for line in lines for ratio in (line.ratio, line.measured.control) if ratio]
    bounds = [0.8, 1.25, *(bound for one in ratios for bound in (one.low, one.value, one.high))]
    finite = [bound for bound in bounds if 0 < bound < math.inf]
    low, high = min(finite), max(finite)
    finite += [high * _ROOM] if math.inf in bounds else []
    finite += [low / _ROOM] if 0.0 in bounds else []
    return scales.around(finite, _MARGIN)
