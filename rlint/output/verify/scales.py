"""Logarithmic axes: the position of a value, and values for ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 5)
_NARROW = 4.0  # an axis that spans less than this factor has even ticks


@dataclass(frozen=True, slots=True)
class LogScale:
    """An axis from `low` to `high`, both above 0."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the position of a value between 0 and 1; values beyond an end are at the end."""
        if value <= self.low:
            return 0.0
        if value >= self.high:
            return 1.0
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self, most: int) -> list[float]:
        """Return round values on the axis, ascending: at most `most`."""
        if self.high / self.low < _NARROW:
            return self._even(most)
        for marks in (_STEPS, (1, 3), (1,)):
            found = self._decades(marks, 1)
            if len(found) <= most:
                return found
        return next(found for every in range(2, 700) if len(found := self._decades((1,), every)) <= most)

    def _even(self, most: int) -> list[float]:
        exponent = math.floor(math.log10(self.high - self.low)) - 2
        while True:
            for mark in _STEPS:
                step = mark * 10.0**exponent
                first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
                if last - first < most:
                    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]
            exponent += 1

    def _decades(self, marks: tuple[int, ...], every: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        values = [
            float(f"{mark}e{exponent}")
            for exponent in range(first, last + 1)
            if exponent % every == 0
            for mark in marks
        ]
        return [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]


def around(values: Iterable[float], margin: float = 1.0) -> LogScale:
    """Return an axis that contains all finite positive values, with a factor of `margin` at either end."""
    usable = [value for value in values if 0 < value < math.inf]
    low, high = (min(usable), max(usable)) if usable else (1.0, 1.0)
    if low * margin >= high / margin:  # a single value has no range
        return LogScale(low / max(margin, 2.0), high * max(margin, 2.0))
    return LogScale(low / margin, high * margin)
