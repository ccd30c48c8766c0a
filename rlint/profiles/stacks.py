"""Profiles with whole stacks: of samplers and of tracers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from rlint.profiles.profile_model import Claim, Frame, together

Stack = tuple[int, ...]
"""Indices of frames, outermost first."""
DEEPEST = 1_000
"""Maximum depth of nested calls, at which Python itself stops. Deeper frames count for the last one."""


class Stacks:
    """The time spent under each observed stack."""

    def __init__(
        self,
        frames: Sequence[Frame],
        weights: Mapping[Stack, float],
        *,
        format: str,  # noqa: A002 - the word for it
        unit: str = "s",
        threads: int = 1,
        calls: Mapping[int, int] | None = None,
        may_have_lines: bool = False,
    ) -> None:
        self.frames = tuple(frames)
        self.format = format
        self.unit = unit
        self.threads = threads
        self.counts_calls = calls is not None
        self.may_have_lines = may_have_lines
        self._weights = {
            stack: weight for stack, weight in weights.items() if stack and 0 < weight < math.inf
        }
        self.total = sum(self._weights.values())
        self._calls = calls or {}
        self._names = [frame.last_name for frame in self.frames]
        self._own: dict[int, float] = defaultdict(float)
        self._stacks: dict[int, list[Stack]] = defaultdict(list)
        self._callees: dict[int, set[str]] = defaultdict(set)
        for stack, weight in self._weights.items():
            self._own[stack[-1]] += weight
            for frame in set(stack):
                self._stacks[frame].append(stack)
            for caller, callee in pairwise(stack):
                self._callees[caller].add(self._names[callee])

    def own(self, frame: int) -> float:
        """Return the time in a frame, without its callees."""
        return self._own.get(frame, 0.0)

    def inclusive(self, frames: Iterable[int]) -> float:
        """Return the time in these frames of one function, with its callees."""
        stacks = {stack for frame in frames for stack in self._stacks.get(frame, ())}
        return sum(self._weights[stack] for stack in stacks)

    def calls(self, frames: Iterable[int]) -> int | None:
        """Return how often these functions were called; None if calls are not counted."""
        return sum(self._calls.get(frame, 0) for frame in frames) if self.counts_calls else None

    def callees(self, frames: Iterable[int]) -> frozenset[str]:
        """Return the last names of the callees of these frames."""
        return frozenset(name for frame in frames for name in self._callees.get(frame, ()))

    def covered(self, claims: Sequence[Claim], *, upper: bool) -> float:
        """Return the time under the stacks that contain one of the claims."""
        whole, inside = together(claims, upper=upper)
        seen = {stack for frame in whole for stack in self._stacks.get(frame, ())}
        total = sum(self._weights[stack] for stack in seen)
        for stack in {stack for frame in inside for stack in self._stacks.get(frame, ())} - seen:
            if self._within(stack, inside, upper=upper):
                total += self._weights[stack]
        return total

    def _within(self, stack: Stack, inside: Mapping[int, set[str]], *, upper: bool) -> bool:
        if upper and stack[-1] in inside:
            return True  # the function's own time
        pairs = pairwise(stack)
        return any(
            callee_of in inside and self._names[callee] in inside[callee_of] for callee_of, callee in pairs
        )
