"""Which cases are compared, in an order that leaves the most telling ones when time runs out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping

from rlint.harness.workload import Case, Workload

_LEAST_SEEDS = 3
_SHARE = 0.5
"""The part of the time in which all seeds of one size are to be over."""


class Plan:
    """All small sizes and the smallest of those that are measured, with `seeds` seeds each.

    One size surely gets all of them: the largest small one for which there is time.
    """

    def __init__(self, workload: Workload, seeds: int, device: str) -> None:
        self.sizes = tuple(sorted({*workload.small_sizes, workload.sizes[0]}))
        self._small = workload.small_sizes or workload.sizes[:1]
        self._seeds, self._device = seeds, device
        self._done: Counter[int] = Counter()

    @property
    def done(self) -> int:
        """Cases that are over."""
        return self._done.total()

    @property
    def total(self) -> int:
        """Cases, if there is time for all."""
        return self._seeds * len(self.sizes)

    @property
    def fewest(self) -> int:
        """The seeds of the size with the fewest."""
        return min(self._done[size] for size in self.sizes)

    def cases(self, budget: float, seconds: Mapping[int, float]) -> Iterator[Case]:
        """A case of each size and all seeds of one. The rest, a few seeds of each size first, for `budget`
        seconds from the start. `seconds` says what a case takes, by size.
        """
        end = time.perf_counter() + budget
        full = self._full(budget, seconds)
        surely = [(0, size) for size in self.sizes]
        surely += [(seed, full) for seed in range(1, self._seeds)]
        others = [size for size in self.sizes if size != full]
        rest = [(seed, size) for seed in range(1, _LEAST_SEEDS) for size in others]
        rest += [(seed, size) for size in others for seed in range(_LEAST_SEEDS, self._seeds)]
        for index, (seed, size) in enumerate([*surely, *rest]):
            if index >= len(surely) and time.perf_counter() > end:
                return
            yield Case(seed, size, self._device)
            self._done[size] += 1

    def _full(self, budget: float, seconds: Mapping[int, float]) -> int:
        """The size that gets all seeds: not one without anything in it, if there is another."""
        candidates = sorted((size for size in self._small if size > 1), reverse=True) or [max(self._small)]
        fitting = (size for size in candidates if seconds[size] * self._seeds <= budget * _SHARE)
        return next(fitting, candidates[-1])

    def omissions(self) -> Iterator[str]:
        """Where fewer seeds were compared than wanted."""
        for size in self.sizes:
            if self._done[size] < self._seeds:
                yield f"size {size}: {self._done[size]} of {self._seeds} seeds, as time was over"
