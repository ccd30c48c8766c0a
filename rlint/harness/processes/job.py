"""Messages between the directing process and those that run programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from rlint.harness.program import Subject
from rlint.harness.workload import Workload, claims_on

DEVICES, BEHAVIOUR, TIMING, MEMORY, SYNCHRONISATIONS = (
    "devices",
    "behaviour",
    "timing",
    "memory",
    "synchronisations",
)


@dataclass(frozen=True, slots=True)
class BenchJob:
    """One phase over some workloads of one program, for one fresh process."""

    phase: str
    subject: Subject | None = None
    workloads: tuple[str, ...] | None = None
    """By name; None: all that the file declares."""
    device: str = "cpu"
    seeds: int = 20
    budget: float = 1.0
    """Seconds for each workload."""
    round: int = 0
    """The number of this process among those of the phase."""
    quick: bool = False
    """Measure the typical size only, and count once."""


class Job(Protocol):
    """Work for a separate process, pickled with its code."""

    def work(self, send: Callable[[Message], None]) -> None:
        """Do the work, and report its results."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of a workload, without its code."""

    name: str
    title: str
    unit: str
    typical: int
    sizes: tuple[int, ...]
    devices: tuple[str, ...]
    claims: tuple[str, ...]
    estimate: dict[str, object] | None

    @classmethod
    def of(cls, workload: Workload) -> Declared:
        """Read a workload's declarations."""
        promised = workload.estimate
        estimate: dict[str, object] | None = None
        if promised is not None:
            estimate = {
                "claim": promised.claim,
                "low": promised.low,
                "high": promised.high,
                "source": promised.source,
            }
        return cls(
            workload.name,
            workload.title,
            workload.unit,
            workload.typical_size,
            tuple(workload.sizes),
            tuple(workload.devices),
            tuple(workload.claims),
            estimate,
        )

    def claims_on(self, device: str) -> tuple[str, ...]:
        """Return the claims for a device type."""
        return claims_on(device, self.claims)


@dataclass(frozen=True, slots=True)
class Message:
    """A report from a running job.

    `kind` is "declared" (data: a tuple of Declared), "begun", "progress" (data: done and total), "result"
    (data: the result of the phase), "failed" (data: why, as text), or "lacking" (data: that, and the module
    that is not installed).
    """

    kind: str
    workload: str = ""
    data: Any = None
