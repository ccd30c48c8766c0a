"""What is to be compared, and what came of it, as the processes hand them to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from properties.plans import Plan


@dataclass(frozen=True)
class Job:
    """A program, the same after its fixes, and how to run both."""

    before: str
    after: str
    plan: Plan
    seeds: tuple[int, ...]
    lines: tuple[int, ...] = ()
    """Of the program before, that the fixes change."""
    only_after: frozenset[str] = frozenset()
    """Global names that the fixes have added."""


@dataclass
class Outcome:
    """What came of a job."""

    differences: list[str] = field(default_factory=list)
    deterministic: bool = True
    reached: bool = False
    """Did one of the changed lines run?"""
    misused: int = 0
    """Runs that differ, but that began with arguments which the program is not made for."""
    raised: int = 0
    """Runs in which an exception came through, or calls that ended in one."""
    error: str = ""
    """What kept the job from being done."""
