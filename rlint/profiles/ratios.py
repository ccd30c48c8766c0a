"""Time ratios of rules in the evidence: the factor in Amdahl's law."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.evidence.results import Measurement, Verdict
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlint.evidence.recorded import Evidence


class Known(enum.Enum):
    """What is known of the time that a rule's fix saves."""

    MEASURED = "measured"
    NO_GAIN = "no gain"
    """Measurements showed no gain."""
    OTHER = "other than time"
    """Its gain is memory, processor time or another quantity that does not shorten the run by itself."""
    NOT = "not measured"


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """The speedup of the rule's programs: the lower bound for the worst and the upper bound for the best of
    the workloads that claim time.
    """

    known: Known
    low: float = 1.0
    high: float = 1.0
    claims: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


def time_ratio(evidence: Evidence) -> TimeRatio:
    """Return the measured ratio of a rule."""
    claims = evidence.entry.claims
    if evidence.gain is Gain.NONE:
        return TimeRatio(Known.NO_GAIN, claims=claims)
    bounds, devices = [], []
    for recording in evidence.recordings:
        found = [
            bound
            for outcome in recording.claimed
            if "time" in outcome.claims
            for bound in _bounds(outcome.measurement("time"))
        ]
        bounds += found
        devices += [recording.device] if found else []
    if bounds:
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        return TimeRatio(Known.MEASURED, low, high, claims, tuple(devices))
    if evidence.gain is Gain.SOME:
        return TimeRatio(Known.OTHER, claims=claims)
    return TimeRatio(Known.NOT, claims=claims)


def _bounds(measured: Measurement | None) -> Iterator[tuple[float, float]]:
    if measured is None or measured.ratio is None or not math.isfinite(measured.ratio.value):
        return
    if measured.verdict is Verdict.NO_CHANGE:
        yield 1.0, 1.0
    elif measured.ratio.low > 0 and math.isfinite(measured.ratio.high):
        yield measured.ratio.low, measured.ratio.high
