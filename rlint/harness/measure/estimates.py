"""Estimates from measured costs: medians, ratios and growth, each with a bootstrap interval.

Costs come from several processes, each with several rounds at each size. Rounds of one process are correlated
(memory addresses, specialised bytecode), so processes are resampled as well as rounds. All draws use a given
seed: the same costs give the same interval.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rlint.evidence.results import Ratio

RESAMPLES = 1_000
_DRAWS = 600  # number of resamples over all processes
_TAIL = 0.025
_LEAST = 1e-9  # seconds; a clock may return 0, which has no logarithm

Row = tuple[float, ...]
"""The costs of one round, one of each arm."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Logarithms of the medians of each arm at one size: as measured, and for each resample.

    The median of several processes is the geometric mean of their medians.
    """

    center: Row
    draws: Sequence[Row]

    def median(self, arm: int) -> float:
        """Return the median cost of an arm."""
        return math.exp(self.center[arm])

    def ratio(self, numerator: int, denominator: int) -> Ratio:
        """Return the ratio of the medians of two arms."""
        found = interval(self, lambda row: row[numerator] - row[denominator])
        return Ratio(math.exp(found.value), math.exp(found.low), math.exp(found.high))


def resample(
    processes: Sequence[Sequence[Row]], *, choices: Sequence[Sequence[int]], rng: random.Random
) -> Resampled:
    """Resample rounds within processes, and combine them for the resampled processes.

    `choices` are the processes of each resample, so that several sizes can share them. Rounds are drawn
    whole: a disturbance of all arms of a round stays together.
    """
    count = _DRAWS // len(processes) + 1
    drawn = [[_medians(rng.choices(rounds, k=len(rounds))) for _ in range(count)] for rounds in processes]
    combined = [_mean([rng.choice(drawn[index]) for index in chosen]) for chosen in choices]
    center = _mean([_medians(rounds) for rounds in processes])
    return Resampled(center, combined)


def choose_processes(count: int, rng: random.Random, resamples: int = RESAMPLES) -> list[list[int]]:
    """Draw as many processes as there are, with replacement, for each resample."""
    return [rng.choices(range(count), k=count) for _ in range(resamples)]


def interval(of: Resampled, value: Callable[[Row], float]) -> Ratio:
    """Return a statistic of the medians, with its interval that covers 95 % of the resamples."""
    return bounds(value(of.center), [value(row) for row in of.draws])


def bounds(center: float, draws: Sequence[float]) -> Ratio:
    """Return a number with the interval of its `draws` without the tails."""
    ordered = sorted(draws)
    low = ordered[math.floor(_TAIL * (len(ordered) - 1))]
    high = ordered[math.ceil((1 - _TAIL) * (len(ordered) - 1))]
    # Medians of few rounds take few values: the measured one may be the outermost.
    return Ratio(center, min(center, low), max(center, high))


@dataclass(frozen=True, slots=True)
class GrowthEstimate:
    """Exponents: a cost that doubles with the size has 1, one that quadruples has 2."""

    slopes: Row
    """Of each arm."""
    difference: Ratio
    """The first arm's exponent minus the last one's, with its interval; a difference, not a ratio."""


def growth(points: Mapping[int, Resampled], *, first: int = 0, last: int = -1) -> GrowthEstimate | None:
    """Fit costs to powers of the size, and compare two arms resample by resample.

    All sizes must have been resampled with the same choices of processes. None for fewer than two sizes.
    """
    fitted = {size: point for size, point in points.items() if size > 0}  # 0 has no logarithm
    if len(fitted) < 2:
        return None
    logs = [math.log(size) for size in fitted]
    found = list(fitted.values())

    def apart(rows: Sequence[Row]) -> float:
        return slope(logs, [row[first] - row[last] for row in rows])

    centers = [point.center for point in found]
    arms = range(len(centers[0]))
    return GrowthEstimate(
        tuple(slope(logs, [row[arm] for row in centers]) for arm in arms),
        bounds(
            apart(centers),
            [apart(rows) for rows in zip(*(point.draws for point in found), strict=True)],
        ),
    )


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of the line through the points with the least sum of squared errors."""
    middle = statistics.fmean(xs)
    return sum((x - middle) * y for x, y in zip(xs, ys, strict=True)) / sum((x - middle) ** 2 for x in xs)


def _medians(rounds: Sequence[Row]) -> Row:
    return tuple(math.log(max(_median(costs), _LEAST)) for costs in zip(*rounds, strict=True))


def _median(values: Sequence[float]) -> float:
    # `statistics` takes three times as long, and this runs a hundred thousand times.
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _mean(rows: Sequence[Row]) -> Row:
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))
