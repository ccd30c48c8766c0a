"""Profiles that know who called whom, and no whole stacks: those of cProfile.

What a function spent is shared out among its callers as the profile measured it for each of them. What it
spent for a caller of its caller is taken to have the same proportions, as gprof does.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlint.profiles.model import Claim, Frame

_ROUNDS = 30  # functions that call one another in a circle settle long before
_SETTLED = 1e-6


@dataclass(frozen=True, slots=True)
class Edge:
    """What a function spent while one of its callers had called it directly."""

    caller: int
    callee: int
    own: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class Entry:
    """What a function spent in all."""

    calls: int
    own: float
    inclusive: float


class CallGraph:
    """The times of functions and of the calls between them."""

    format = "cProfile"
    unit = "s"
    threads = 1
    counts_calls = True
    may_have_lines = False

    def __init__(self, frames: Sequence[Frame], entries: Sequence[Entry], edges: Iterable[Edge]) -> None:
        self.frames = tuple(frames)
        self._entries = tuple(entries)
        self.total = sum(entry.own for entry in entries)
        self._names = [frame.last_name for frame in self.frames]
        self._into: dict[int, list[Edge]] = defaultdict(list)
        self._out: dict[int, list[Edge]] = defaultdict(list)
        for edge in edges:
            self._into[edge.callee].append(edge)
            self._out[edge.caller].append(edge)

    def own(self, frame: int) -> float:
        """The time in a function, without what it calls."""
        return self._entries[frame].own

    def inclusive(self, frames: Iterable[int]) -> float:
        """The time in one function, with what it calls."""
        return sum(self._entries[frame].inclusive for frame in frames)

    def calls(self, frames: Iterable[int]) -> int | None:
        """How often these functions were called."""
        return sum(self._entries[frame].calls for frame in frames)

    def callees(self, frames: Iterable[int]) -> frozenset[str]:
        """The last names of what these functions call."""
        return frozenset(self._names[edge.callee] for frame in frames for edge in self._out.get(frame, ()))

    def covered(self, claims: Sequence[Claim], *, upper: bool) -> float:
        """The time below the claims, as far as callers' shares tell."""
        whole: set[int] = set()
        inside: dict[int, set[str]] = defaultdict(set)
        for claim in claims:
            whole |= claim.whole
            for frame in claim.inside:
                inside[frame] |= (claim.surely | claim.perhaps) if upper else claim.surely
        below = self._below(whole, inside)
        if not below:
            return 0.0
        return min(
            self.total,
            sum(self._time(frame, part, whole, inside, below, upper=upper) for frame, part in below.items()),
        )

    def _time(
        self,
        frame: int,
        part: float,
        whole: set[int],
        inside: dict[int, set[str]],
        below: dict[int, float],
        *,
        upper: bool,
    ) -> float:
        """How much of a function's own time is covered."""
        own = self._entries[frame].own
        if frame in whole or (upper and frame in inside):
            return own
        into = self._into.get(frame, ())
        spent = sum(edge.own for edge in into)
        if spent <= 0:
            return own * part
        covered = sum(edge.own * self._through(edge, whole, inside, below) for edge in into)
        return own * min(covered / spent, 1.0)

    def _through(
        self, edge: Edge, whole: set[int], inside: dict[int, set[str]], below: dict[int, float]
    ) -> float:
        """Which part of what was done through an edge is covered."""
        if edge.caller in whole or self._names[edge.callee] in inside.get(edge.caller, ()):
            return 1.0
        return below.get(edge.caller, 0.0)

    def _below(self, whole: set[int], inside: dict[int, set[str]]) -> dict[int, float]:
        """For each function that a claim reaches, the part of its time that is covered from above."""
        reached = self._reached(whole, inside)
        below = dict.fromkeys(reached, 0.0)
        for _ in range(_ROUNDS):
            changed = 0.0
            for frame in reached:
                into = self._into.get(frame, ())
                spent = sum(edge.inclusive for edge in into)
                part = 1.0 if frame in whole else 0.0
                if part == 0.0 and spent > 0:
                    part = (
                        sum(edge.inclusive * self._through(edge, whole, inside, below) for edge in into)
                        / spent
                    )
                changed = max(changed, abs(part - below[frame]))
                below[frame] = min(part, 1.0)
            if changed < _SETTLED:
                break
        return below

    def _reached(self, whole: set[int], inside: dict[int, set[str]]) -> list[int]:
        """The claimed functions and all that may run below them, callers first as far as that goes."""
        below: set[int] = set()
        pending = [*whole]
        pending += [
            edge.callee
            for frame, names in inside.items()
            for edge in self._out.get(frame, ())
            if self._names[edge.callee] in names
        ]
        while pending:
            frame = pending.pop()
            if frame not in below:
                below.add(frame)
                pending += [edge.callee for edge in self._out.get(frame, ())]
        return sorted(below | set(inside), key=self._order.__getitem__)

    @functools.cached_property
    def _order(self) -> list[int]:
        """For each function its place in an order with callers before what they call, circles apart."""
        done: list[int] = []
        seen: set[int] = set()
        for root in range(len(self.frames)):
            if root in seen:
                continue
            seen.add(root)
            path = [(root, iter(self._out.get(root, ())))]
            while path:
                frame, edges = path[-1]
                callee = next((edge.callee for edge in edges if edge.callee not in seen), None)
                if callee is None:
                    done.append(frame)
                    path.pop()
                else:
                    seen.add(callee)
                    path.append((callee, iter(self._out.get(callee, ()))))
        order = [0] * len(self.frames)
        for place, frame in enumerate(reversed(done)):
            order[frame] = place
        return order
