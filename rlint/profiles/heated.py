"""Findings with their profile data, as plain data for the reports.

Shares are parts of the run, from 0 to 1.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlint.findings import Finding
from rlint.profiles.ratios import Known


class Basis(enum.Enum):
    """The basis of a share."""

    LINES = "lines"
    """The lines of the finding, with all that they call."""
    FUNCTION = "function"
    """The whole function, with all that it calls: the finding is about all of it."""
    CALLS = "calls"
    """The callees of the finding's lines in the enclosing function, by name, plus at most the function's own
    time: the profile does not distinguish lines.
    """
    NOT_SEEN = "not seen"
    """It did not run while the profile was recorded, or was never sampled."""
    OTHER_PLACE = "elsewhere"
    """The finding is about an object that is set up here and costs time elsewhere."""
    UNKNOWN = "unknown"
    """The file could not be identified in the profile."""


@dataclass(frozen=True, slots=True)
class GainInterval:
    """A part of the run."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The midpoint of the bounds."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Heated:
    """Profile data of one finding."""

    basis: Basis
    share: GainInterval | None
    """Fraction of the run; None if the profile does not determine it."""
    calls: int | None
    """Number of calls of the enclosing function; None if calls are not counted."""
    known: Known
    """The state of the rule's evidence."""
    ratio: GainInterval | None
    """Speedup of the rule's programs."""
    saved: GainInterval | None
    """The fraction of the run that the fix would save; None if the share or the ratio is not known."""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function that takes much of the run and that no finding explains."""

    name: str
    place: str
    """`file:line`, or "" for code written in C."""
    inclusive: float
    own: float
    calls: int | None
    in_project: bool
    symptom: str | None
    """The class of bottleneck that its name suggests."""
    advice: str | None
    seed: str | None
    """The sections of the seed documents that describe the class."""


@dataclass(frozen=True, slots=True)
class Heating:
    """Profile data of a whole report."""

    path: str
    format: str
    total: float
    unit: str
    threads: int
    findings: Mapping[Finding, Heated]
    saved_safe: GainInterval
    """The fraction of the run that all safe fixes together would save, each moment counted once."""
    saved_all: GainInterval
    """The same with the unsafe ones."""
    unmeasured_safe: int = 0
    """Safe fixes that are in no sum, as their gain is not known."""
    unmeasured_all: int = 0
    left_out: int = 0
    """Findings below the smallest requested share."""
    hot: tuple[HotFunction, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    """Notes on the profile for the reader."""
    fixed: GainInterval | None = None
    """The fraction of the run that the applied fixes save."""
    unmeasured_fixed: int = 0
