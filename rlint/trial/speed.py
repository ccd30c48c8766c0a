"""Whether a command is slower with fixes than without. Determined from pairs of runs, and only beyond their
noise.

Both are run alternately, the first of a pair changing each time, so that a machine that slows down or warms
up affects both. Slower means: in all pairs except at most one, and in the median by more than a floor, which
is the larger of 5 % and the variation of runs without fixes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

PAIRS = 7
LEAST = 0.05
"""As a share of the time: a smaller difference never counts as slower."""
LEAST_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds of a command without and with fixes, pair by pair."""

    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def floor(self) -> float:
        """Return the share of the time that a difference has to exceed: twice the usual deviation, or 5 %."""
        middle = median(self.before)
        spread = median(abs(seconds - middle) for seconds in self.before)
        return max(LEAST, LEAST_SECONDS / middle, 2 * 1.4826 * spread / middle) if middle else LEAST

    @property
    def ratio(self) -> float:
        """Return the median ratio of the time with fixes to the time without; above 1 is slower."""
        return median(after / before for before, after in zip(self.before, self.after, strict=True))

    @property
    def is_slower(self) -> bool:
        """Whether the fixes made it slower, beyond noise."""
        slower = sum(after > before for before, after in zip(self.before, self.after, strict=True))
        return slower >= len(self.before) - 1 and self.ratio > 1 + self.floor

    def __str__(self) -> str:
        """Return both times for display."""
        return (
            f"{median(self.before):.2f} s before, {median(self.after):.2f} s after: {self.ratio:.2f} times"
            f" as long ({len(self.before)} pairs of runs; below {1 + self.floor:.2f} counts as noise)"
        )


def compare(before: Callable[[], float], after: Callable[[], float]) -> Speed:
    """Time both alternately."""
    first: list[float] = []
    second: list[float] = []
    for number in range(PAIRS):
        if number % 2:
            second.append(after())
            first.append(before())
        else:
            first.append(before())
            second.append(after())
    return Speed(tuple(first), tuple(second))
