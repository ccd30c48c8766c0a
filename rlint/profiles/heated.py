"""Findings and what a profile says of them: plain data, for the reports.

Shares are parts of the run, from 0 to 1.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlint.findings import Finding
from rlint.profiles.ratios import Known


class Basis(enum.Enum):
    """What a share was taken from."""

    LINES = "lines"
    """The lines of the finding, with all that they call."""
    FUNCTION = "function"
    """The whole function, with all that it calls: the finding is about all of it."""
    CALLS = "calls"
    """What the finding's lines call in the function around them, told by name, and at most the function's own
    time besides: the profile does not tell lines apart."""
    NOT_SEEN = "not seen"
    """Nothing of it ran while the profile was recorded, or a sampler never met it."""
    ELSEWHERE = "elsewhere"
    """The finding is about something that is set up here and costs elsewhere."""
    UNKNOWN = "unknown"
    """The file could not be told in the profile."""


@dataclass(frozen=True, slots=True)
class GainInterval:
    """A part of the run."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Half way between the bounds."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Heated:
    """What a profile says of one finding."""

    basis: Basis
    share: GainInterval | None
    """Of the run; None where the profile cannot say."""
    calls: int | None
    """How often the function around it was called; None where that is not counted."""
    known: Known
    """The state of the rule's evidence."""
    ratio: GainInterval | None
    """How many times as fast the rule's programs became."""
    saved: GainInterval | None
    """The part of the run that the fix would take away; None where the share or the ratio is not known."""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function that takes much of the run and that no rule explains."""

    name: str
    place: str
    """`file:line`, or "" for what is written in C."""
    inclusive: float
    own: float
    calls: int | None
    in_project: bool
    symptom: str | None
    """The class of bottleneck that its name suggests."""
    advice: str | None
    seed: str | None
    """Where the documents that rlint began with describe the class."""


@dataclass(frozen=True, slots=True)
class Heating:
    """What a profile says of a whole report."""

    path: str
    format: str
    total: float
    unit: str
    threads: int
    findings: Mapping[Finding, Heated]
    saved_safe: GainInterval
    """The part of the run that all safe fixes together would take away, each moment counted once."""
    saved_all: GainInterval
    """The same with the unsafe ones."""
    unmeasured_safe: int = 0
    """Safe fixes that are in no sum, as no gain of theirs is known."""
    unmeasured_all: int = 0
    left_out: int = 0
    """Findings below the smallest share that was asked for."""
    hot: tuple[HotFunction, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    """What a reader should know of the profile."""
    fixed: GainInterval | None = None
    """The part of the run that the fixes which were applied take away."""
    unmeasured_fixed: int = 0
