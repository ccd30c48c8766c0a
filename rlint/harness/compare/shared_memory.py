"""Arrays that share memory, and their distances, determined from addresses only."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FEW = 20_000
"""Number of elements up to which arrays are compared address by address."""
_MOST_TRIALS = 300_000
"""Number of pairs of arrays that are examined, after which only those at the same address count."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Memory extent of an array's elements; addresses and strides in bytes."""

    space: str
    """Addresses in different spaces (devices) are unrelated."""
    address: int
    width: int
    """Size of one element."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def empty(self) -> bool:
        """Whether it has no memory at all."""
        return self.width == 0 or 0 in self.shape

    @property
    def start(self) -> int:
        """Return the lowest address."""
        steps = ((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return self.address + sum(step for step in steps if step < 0)

    @property
    def end(self) -> int:
        """Return the first address after it."""
        steps = ((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return self.address + sum(step for step in steps if step > 0) + self.width

    def addresses(self) -> Iterator[int]:
        """Yield the address of each element."""
        for place in itertools.product(*map(range, self.shape)):
            yield self.address + sum(i * stride for i, stride in zip(place, self.strides, strict=True))


def overlap(a: Extent, b: Extent) -> bool:
    """Whether two arrays have a byte in common; for large ones in irregular strides, whether they may."""
    if a.space != b.space or a.empty or b.empty or a.end <= b.start or b.end <= a.start:
        return False
    steps = [abs(s) for e in (a, b) for n, s in zip(e.shape, e.strides, strict=True) if n > 1 and s]
    if not steps:
        return True
    # Modulo the greatest common stride, each array has its own residues.
    common = math.gcd(*steps)
    apart = (b.address - a.address) % common
    if apart >= a.width and apart + b.width <= common:
        return False
    if math.prod(a.shape) * math.prod(b.shape) == 1 or max(map(_elements, (a, b))) > _FEW:
        return True
    if a.width != b.width or apart:
        own_part = {at + i for at in a.addresses() for i in range(a.width)}
        return any(at + i in own_part for at in b.addresses() for i in range(b.width))
    return not set(a.addresses()).isdisjoint(b.addresses())


def _elements(extent: Extent) -> int:
    return math.prod(extent.shape)


def relation(early: Extent, late: Extent, path: str) -> str:
    """Describe how the later array shares memory with the earlier one, which is called `path`."""
    if not overlap(early, late):
        return f"no memory shared with `{path}`"
    distance = late.address - early.address
    return f"memory of `{path}`" + (f", from byte {distance} on" if distance else "")


def pairs(extents: Sequence[Extent]) -> list[tuple[int, int]]:
    """Return pairs (earlier, later) of arrays that share memory, enough to derive all others by their
    distances.

    Each later array is paired with one array of each group of sharing arrays that it overlaps, so that the
    distances along the pairs locate all arrays of a group.
    """
    found: list[tuple[int, int]] = []
    groups = _Groups(len(extents))
    first_at: dict[Extent, int] = {}
    distinct: list[int] = []
    for index, extent in enumerate(extents):
        if extent.empty:
            continue
        if extent in first_at:
            found.append((first_at[extent], index))
            groups.join(first_at[extent], index)
        else:
            first_at[extent] = index
            distinct.append(index)
    distinct.sort(key=lambda i: (extents[i].space, extents[i].start, i))
    active: list[int] = []
    trials = 0
    for index in distinct:
        here = extents[index]
        active = [i for i in active if extents[i].space == here.space and extents[i].end > here.start]
        for other in sorted(active):
            trials += 1
            if trials > _MOST_TRIALS:
                return sorted(found)
            if groups.of(other) != groups.of(index) and overlap(extents[other], here):
                groups.join(other, index)
                found.append((min(other, index), max(other, index)))
        active.append(index)
    return sorted(found)


class _Groups:
    """Disjoint sets of numbers, with union."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def of(self, index: int) -> int:
        while self._parents[index] != index:
            self._parents[index] = index = self._parents[self._parents[index]]
        return index

    def join(self, a: int, b: int) -> None:
        self._parents[self.of(b)] = self.of(a)
