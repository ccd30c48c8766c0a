"""Profiles with caller-callee edges, but without whole stacks: those of cProfile.

The time of a function is divided among its callers as the profile measured it for each of them. Its time for
a caller of its caller is assumed to have the same proportions, as in gprof.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlint.profiles.profile_model import Claim, Frame, together

_ROUNDS, _SETTLED = 8, 0.01
"""Limits of the iteration that resolves the shares of recursive functions."""
_MOST = 0.5  # share of the run above which a call of `exec` is that of the program


@dataclass(frozen=True, slots=True)
class ProfileEdge:
    """The time of a function while one of its callers had called it directly."""

    caller: int
    callee: int
    own: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """The total time of a function."""

    calls: int
    own: float
    inclusive: float


class ProfileGraph:
    """The times of functions and of the calls between them."""

    unit = "s"
    threads = 1
    may_have_lines = False

    def __init__(
        self, frames: Sequence[Frame], entries: Sequence[ProfileEntry], edges: Iterable[ProfileEdge]
    ) -> None:
        self.frames = tuple(frames)
        self._entries = tuple(entries)
        self.total = sum(entry.own for entry in entries)
        # samplers that write this format use -1; their times of recursive functions are not sums of samples
        # either
        self.counts_calls = all(entry.calls >= 0 for entry in entries)
        self.format = "cProfile" if self.counts_calls else "pstats of a sampler"
        self._names = [frame.last_name for frame in self.frames]
        self._into: dict[int, list[ProfileEdge]] = defaultdict(list)
        self._out: dict[int, list[ProfileEdge]] = defaultdict(list)
        known = list(edges)
        program = self._program(known)
        for edge in known:
            if edge is not program:
                self._into[edge.callee].append(edge)
                self._out[edge.caller].append(edge)

    def _program(self, edges: Sequence[ProfileEdge]) -> ProfileEdge | None:
        """Return the call by which `exec` runs the program itself. `exec` also runs imported modules, so the
        program would otherwise count as a part of its own imports.
        """
        modules = [
            edge
            for edge in edges
            if self._names[edge.callee] == "<module>" and self._names[edge.caller] == "exec"
        ]
        longest = max(modules, key=lambda edge: edge.inclusive, default=None)
        return longest if longest is not None and longest.inclusive > _MOST * self.total else None

    def own(self, frame: int) -> float:
        """Return the time in a function, without its callees."""
        return self._entries[frame].own

    def inclusive(self, frames: Iterable[int]) -> float:
        """Return the time in one function, with its callees."""
        return sum(self._entries[frame].inclusive for frame in frames)

    def calls(self, frames: Iterable[int]) -> int | None:
        """Return how often these functions were called; None if a sampler wrote the profile."""
        return sum(self._entries[frame].calls for frame in frames) if self.counts_calls else None

    def callees(self, frames: Iterable[int]) -> frozenset[str]:
        """Return the last names of the callees of these functions."""
        return frozenset(self._names[edge.callee] for frame in frames for edge in self._out.get(frame, ()))

    def covered(self, claims: Sequence[Claim], *, upper: bool) -> float:
        """Return the time below the claims, as far as callers' shares determine it."""
        whole, inside = together(claims, upper=upper)
        if self.counts_calls and len(claims) == 1 and len(whole) + len(inside) == 1:
            return min(self.total, self._measured(whole, inside, upper=upper))
        below = self._below(whole, inside)
        if not below:
            return 0.0
        return min(
            self.total,
            sum(self._time(frame, part, whole, inside, below, upper=upper) for frame, part in below.items()),
        )

    def _measured(self, whole: set[int], inside: dict[int, set[str]], *, upper: bool) -> float:
        """Return the time of one function, or of some of its calls, which the profile contains."""
        time = sum(self._entries[frame].inclusive for frame in whole)
        for frame, names in inside.items():
            time += self._entries[frame].own if upper else 0.0
            time += sum(edge.inclusive for edge in self._out[frame] if self._names[edge.callee] in names)
        return time

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
        """Return how much of a function's own time is covered."""
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
        self, edge: ProfileEdge, whole: set[int], inside: dict[int, set[str]], below: dict[int, float]
    ) -> float:
        """Return which share of the time through an edge is covered."""
        if edge.caller in whole or self._names[edge.callee] in inside.get(edge.caller, ()):
            return 1.0
        return below.get(edge.caller, 0.0)

    def _below(self, whole: set[int], inside: dict[int, set[str]]) -> dict[int, float]:
        """Return, for each function that a claim reaches, the part of its time that is covered from above."""
        below: dict[int, float] = {}
        for circle in self._reached(whole, inside):
            below.update((frame, 1.0 if frame in whole else 0.0) for frame in circle)
            others = [frame for frame in circle if frame not in whole]
            for _ in range(_ROUNDS if len(circle) > 1 else 1):
                changed = 0.0
                for frame in others:
                    covered = spent = 0.0
                    for edge in self._into.get(frame, ()):
                        spent += edge.inclusive
                        covered += edge.inclusive * self._through(edge, whole, inside, below)
                    part = min(covered / spent, 1.0) if spent > 0 else 0.0
                    changed = max(changed, abs(part - below[frame]))
                    below[frame] = part
                if changed < _SETTLED:
                    break
        return below

    def _reached(self, whole: set[int], inside: dict[int, set[str]]) -> list[tuple[int, ...]]:
        """Return the claimed functions and all that may run below them, including cycles, callers first."""
        found: set[int] = set()
        pending = [*whole]
        pending += [
            edge.callee
            for frame, names in inside.items()
            for edge in self._out.get(frame, ())
            if self._names[edge.callee] in names
        ]
        while pending:
            frame = pending.pop()
            if frame not in found:
                found.add(frame)
                pending += [edge.callee for edge in self._out.get(frame, ())]
        circles, number_of = self._circles
        return [circles[number] for number in sorted({number_of[frame] for frame in found | set(inside)})]

    @functools.cached_property
    def _circles(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """Return groups of mutually recursive functions, callers first, and the number of each function's
        group.

        Tarjan's algorithm, without recursion.
        """
        groups: list[tuple[int, ...]] = []
        number: dict[int, int] = {}
        lowest: dict[int, int] = {}
        open_: list[int] = []
        is_open: set[int] = set()
        for root in range(len(self.frames)):
            if root in number:
                continue
            path = [(root, iter(self._out.get(root, ())))]
            number[root] = lowest[root] = len(number)
            open_.append(root)
            is_open.add(root)
            while path:
                frame, edges = path[-1]
                for edge in edges:
                    callee = edge.callee
                    if callee not in number:
                        number[callee] = lowest[callee] = len(number)
                        open_.append(callee)
                        is_open.add(callee)
                        path.append((callee, iter(self._out.get(callee, ()))))
                        break
                    if callee in is_open:
                        lowest[frame] = min(lowest[frame], number[callee])
                else:
                    path.pop()
                    if path:
                        lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[frame])
                    if lowest[frame] == number[frame]:
                        group: list[int] = []
                        while not group or group[-1] != frame:
                            group.append(open_.pop())
                            is_open.discard(group[-1])
                        groups.append(tuple(reversed(group)))
        groups.reverse()
        group_of = [0] * len(self.frames)
        for place, members in enumerate(groups):
            for frame in members:
                group_of[frame] = place
        return groups, group_of
