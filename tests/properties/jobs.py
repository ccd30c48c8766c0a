"""Jobs of comparing programs, and their results, as exchanged by processes."""

from __future__ import annotations

from dataclasses import dataclass, field

from properties.plans import Plan


@dataclass(frozen=True)
class Job:
    """A program before and after its fixes, and how to run both."""

    before: str
    after: str
    plan: Plan
    seeds: tuple[int, ...]
    lines: tuple[int, ...] = ()
    """Lines of the original program that the fixes change."""
    only_after: frozenset[str] = frozenset()
    """Global names that the fixes have added."""


@dataclass
class Outcome:
    """The result of a job."""

    differences: list[str] = field(default_factory=list)
    deterministic: bool = True
    reached: bool = False
    """Whether one of the changed lines ran."""
    misused: int = 0
    """Runs that differ, but with arguments that the program does not support."""
    raised: int = 0
    """Runs, or calls, that ended with an exception."""
    error: str = ""
    """The reason why the job failed."""
