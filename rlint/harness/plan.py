"""Which cases are compared, in an order that leaves the most telling ones when time runs out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from rlint.harness.workload import Case, Workload

_LEAST_SEEDS = 3


class Plan:
    """All small sizes and the smallest of those that are measured, with `seeds` seeds each."""

    def __init__(self, workload: Workload, seeds: int, device: str) -> None:
        self.sizes = tuple(sorted({*workload.small_sizes, workload.sizes[0]}))
        self._full = max(workload.small_sizes, default=workload.sizes[0])
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

    def cases(self, budget: float) -> Iterator[Case]:
        """Three seeds of each size and all seeds of one. The rest, small sizes first, for `budget` seconds
        from the start.
        """
        end = time.perf_counter() + budget
        first, others = range(_LEAST_SEEDS), range(_LEAST_SEEDS, self._seeds)
        few = [(seed, size) for seed in first for size in self.sizes]
        full = [(seed, self._full) for seed in others]
        rest = [(seed, size) for size in self.sizes if size != self._full for seed in others]
        for index, (seed, size) in enumerate([*few, *full, *rest]):
            if index >= len(few) + len(full) and time.perf_counter() > end:
                return
            yield Case(seed, size, self._device)
            self._done[size] += 1

    def omissions(self) -> Iterator[str]:
        """Where fewer seeds were compared than wanted."""
        for size in self.sizes:
            if self._done[size] < self._seeds:
                yield f"size {size}: {self._done[size]} of {self._seeds} seeds, as time was over"
