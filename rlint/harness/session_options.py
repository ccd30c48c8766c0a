"""What a person may ask of a session, how much time its parts take, and who is told how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rlint.evidence.results import LEAST_SEEDS


@dataclass(frozen=True, slots=True)
class Pace:
    """How much time the parts of a session take. All times are seconds."""

    processes: int
    """Fresh processes that each time all workloads."""
    more: int
    """Further ones for workloads that these leave undecided."""
    further: float
    """For those further ones: none is started later."""
    timing: float
    """For timing all workloads, starts of processes left out; shared between them."""
    least: float
    most: float
    """Of that, for one workload in one process."""
    behaviour: float
    """For comparing the behaviour of one workload, which usually takes far less."""
    together: bool
    """Whether experiments are timed on all processors at once: sooner done, less clearly seen."""


THOROUGH = Pace(processes=3, more=4, further=90, timing=150, least=0.4, most=3, behaviour=120, together=False)
QUICK = Pace(processes=1, more=1, further=10, timing=10, least=0.2, most=0.5, behaviour=15, together=True)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a person may ask for."""

    devices: tuple[str, ...] | None = None
    """Kinds of devices; None: all that are there."""
    quick: bool = False
    seeds: int = LEAST_SEEDS
    silence: float = 60.0
    """Seconds after which a process without a sign of life is ended."""
    memory: int = 4 * 2**30
    """Bytes that one process may hold."""

    def wants(self, device: str) -> bool:
        """Whether a kind of device is asked for."""
        return self.devices is None or device in self.devices

    @property
    def pace(self) -> Pace:
        """Return the time limits of the session."""
        return QUICK if self.quick else THOROUGH


class Progress(Protocol):
    """Is told what goes on, from several threads."""

    def expect(self, steps: int) -> None:
        """`steps` more will be taken."""

    def begin(self, what: str) -> None:
        """Say what is being done now."""

    def advance(self, steps: int = 1) -> None:
        """Say that steps are done."""


class Silent:
    """Shows nothing."""

    def expect(self, steps: int) -> None:
        """Take note of nothing."""

    def begin(self, what: str) -> None:
        """Take note of nothing."""

    def advance(self, steps: int = 1) -> None:
        """Take note of nothing."""
