"""Paths to compared values, recorded as steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class _Step(NamedTuple):
    origin: int
    label: str
    listed: bool


class Trail:
    """Steps from place to place, each of which is a number. Paths are built on demand, as those of deeply
    nested values are long.
    """

    def __init__(self) -> None:
        self._steps: list[_Step] = []

    def start(self, name: str) -> int:
        """Return the place of a root value."""
        return self.step(-1, name)

    def step(self, origin: int, label: str, *, listed: bool = False) -> int:
        """Return the place that `label` (`.weight`, `[2]`) leads to; `listed` if it is one of many similar
        ones.
        """
        if not label:
            return origin
        self._steps.append(_Step(origin, label, listed))
        return len(self._steps) - 1

    def path(self, at: int) -> str:
        """Return the path of a place as shown to users: `inputs.rows[2]`."""
        return "".join(reversed([step.label for step in self._way(at)]))

    def pattern(self, at: int) -> str:
        """Return the path with `[*]` for positions in lists: `inputs.rows[*]`."""
        return "".join(reversed(["[*]" if step.listed else step.label for step in self._way(at)]))

    def _way(self, at: int) -> Iterator[_Step]:
        while at >= 0:
            yield self._steps[at]
            at = self._steps[at].origin
