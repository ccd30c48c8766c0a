"""Plan of the cases to compare, ordered so that the most informative ones come before the time runs out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping

from rlint.harness.compare.observation import Trial
from rlint.harness.workload import (
    AGAIN,
    CHANGED,
    EMPTY,
    INFINITY,
    NAN,
    NEGATIVE_ZERO,
    STRIDED,
    VARIANTS,
    Case,
    Workload,
)

_LEAST_SEEDS = 3
_SHARE = 0.5
"""The fraction of the time in which all seeds of one size should be completed."""
_SEEDS_OF_VARIANTS = {AGAIN: 2, CHANGED: 2, NAN: 2, INFINITY: 2, NEGATIVE_ZERO: 1, EMPTY: 3, STRIDED: 2}


class CasePlan:
    """All small sizes and the smallest of the measured sizes, with `seeds` seeds each; one case of each
    larger size, and a few of each variant.

    One size always gets all of its seeds: the largest small one for which there is time. A `quick` plan has
    the smallest one above 1 alone, and the variants.
    """

    def __init__(self, workload: Workload, seeds: int, device: str, *, quick: bool = False) -> None:
        self.sizes = tuple(sorted({*workload.small_sizes, workload.sizes[0]}))
        self._small = workload.small_sizes or workload.sizes[:1]
        self._larger = [size for size in workload.sizes if size > self.sizes[-1]]
        if quick:
            self.sizes = self._small = (min(self._above_one() or self._small),)
            self._larger = []
        self._variants = [name for name in VARIANTS if name not in workload.excludes]
        self._seeds, self._device = seeds, device
        self._done: Counter[int] = Counter()
        self._others = 0
        self._made: Counter[str] = Counter()
        self._compared: set[int] = set()

    @property
    def done(self) -> int:
        """Number of completed cases."""
        return self._done.total() + self._others

    @property
    def total(self) -> int:
        """Number of cases, if there is time for all and each variant can be created."""
        variants = sum(_SEEDS_OF_VARIANTS[name] for name in self._variants)
        return self._seeds * len(self.sizes) + len(self._larger) + variants

    @property
    def fewest(self) -> int:
        """Return the seeds of the size with the fewest."""
        return min(self._done[size] for size in self.sizes)

    @property
    def larger(self) -> tuple[int, ...]:
        """Return the larger sizes of which a case was compared."""
        return tuple(sorted(self._compared.difference(self.sizes)))

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the variants of which a case was compared."""
        return tuple(name for name in VARIANTS if self._made[name])

    def trials(self, budget: float, seconds: Mapping[int, float]) -> Iterator[Trial]:
        """Yield a case of each size, one of the largest, the variants, and all seeds of one size. Then the
        rest, a few seeds of each size first, for `budget` seconds from the start. `seconds` is the time of a
        case, by size.
        """
        end = time.perf_counter() + budget
        full = self._full(budget, seconds)
        others = [size for size in self.sizes if size != full]
        largest, between = self._larger[-1:], self._larger[:-1]
        surely = [Trial(Case(0, size, self._device)) for size in (*self.sizes, *largest)]
        surely += self._variant_trials(full)
        surely += self._plain(range(1, self._seeds), [full])
        rest = self._plain(range(1, _LEAST_SEEDS), others)
        rest += [
            Trial(Case(seed, size, self._device))
            for size in others
            for seed in range(_LEAST_SEEDS, self._seeds)
        ]
        rest += self._plain(range(1), between)
        for index, trial in enumerate([*surely, *rest]):
            if index >= len(surely) and time.perf_counter() > end:
                return
            yield trial

    def compared(self, trial: Trial) -> None:
        """Record that a trial was run, and not given up."""
        if trial.variant:
            self._made[trial.variant] += 1
        self._compared.add(trial.case.size)
        if trial.variant or trial.case.size not in self.sizes:
            self._others += 1
        else:
            self._done[trial.case.size] += 1

    def _plain(self, seeds: range, sizes: list[int]) -> list[Trial]:
        return [Trial(Case(seed, size, self._device)) for seed in seeds for size in sizes]

    def _variant_trials(self, full: int) -> list[Trial]:
        other = next((size for size in self.sizes[::-1] if size not in (0, full)), None)
        return [
            Trial(Case(seed, full, self._device), name, other)
            for name in self._variants
            for seed in range(_SEEDS_OF_VARIANTS[name])
        ]

    def _full(self, budget: float, seconds: Mapping[int, float]) -> int:
        """Return the size that gets all seeds: not 0, if there is another."""
        candidates = sorted(self._above_one(), reverse=True) or [max(self._small)]
        fitting = (size for size in candidates if seconds[size] * self._seeds <= budget * _SHARE)
        return next(fitting, candidates[-1])

    def _above_one(self) -> list[int]:
        return [size for size in self._small if size > 1]

    def omissions(self) -> Iterator[str]:
        """Yield the sizes at which fewer seeds than requested were compared."""
        for size in self.sizes:
            if self._done[size] < self._seeds:
                yield f"size {size}: {self._done[size]} of {self._seeds} seeds, because the time was up"
