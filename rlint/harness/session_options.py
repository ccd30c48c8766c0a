"""Options of a session, time limits of its parts, and progress reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rlint.evidence.results import LEAST_SEEDS


@dataclass(frozen=True, slots=True)
class Pace:
    """Time for the parts of a session. All times are seconds."""

    processes: int
    """Fresh processes that each time all workloads."""
    more: int
    """Further processes for workloads that are undecided after these."""
    further: float
    """Seconds for those further processes: none is started later."""
    timing: float
    """Seconds for timing all workloads, without starts of processes; shared between them."""
    least: float
    most: float
    """Maximum of that time for one workload in one process."""
    behaviour: float
    """Seconds for comparing the behaviour of one workload, which usually takes far less."""
    together: bool
    """Whether experiments are timed on all processors at once: faster, but less accurate."""


THOROUGH = Pace(processes=3, more=4, further=90, timing=150, least=0.4, most=3, behaviour=120, together=False)
QUICK = Pace(processes=1, more=1, further=10, timing=10, least=0.2, most=0.5, behaviour=15, together=True)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of a session."""

    devices: tuple[str, ...] | None = None
    """Kinds of devices; None: all that exist."""
    quick: bool = False
    seeds: int = LEAST_SEEDS
    silence: float = 60.0
    """Seconds without activity after which a process is ended."""
    memory: int = 4 * 2**30
    """Maximum bytes of one process."""

    def wants(self, device: str) -> bool:
        """Whether a kind of device is requested."""
        return self.devices is None or device in self.devices

    @property
    def pace(self) -> Pace:
        """Return the time limits of the session."""
        return QUICK if self.quick else THOROUGH


class Progress(Protocol):
    """Receives progress, from several threads."""

    def expect(self, steps: int) -> None:
        """Announce `steps` more steps."""

    def begin(self, what: str) -> None:
        """Show what is being done now."""

    def advance(self, steps: int = 1) -> None:
        """Record completed steps."""


class Silent:
    """Shows nothing."""

    def expect(self, steps: int) -> None:
        """Ignore the number of steps."""

    def begin(self, what: str) -> None:
        """Ignore the description."""

    def advance(self, steps: int = 1) -> None:
        """Ignore completed steps."""
