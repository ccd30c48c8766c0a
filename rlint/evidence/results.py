"""Results of `rlint verify`, as plain data for reports and evidence files. Imports nothing heavy."""

from __future__ import annotations

import enum
from dataclasses import field

from rlint.frozen import frozen

LEAST_SEEDS = 20
"""Minimum number of seeds compared at each size before a program counts as behaving the same."""
BUSY = 20
"""Maximum load of all processors by other programs in per cent before timings count as disturbed."""


class Verdict(enum.Enum):
    """Verdict on one claim, and on one workload on one device."""

    FASTER = "faster"
    """Better in what was claimed: less time, memory, processor time, fewer synchronisations, growth."""
    NO_CHANGE = "no change"
    SLOWER = "slower"
    """Worse in what was claimed."""
    DIFFERENT = "different behaviour"
    NOT_RUN = "not run here"
    NOT_ENOUGH = "not enough cases"
    """No difference was found, but fewer cases were compared than are needed to conclude that there is
    none.
    """


@frozen
class Ratio:
    """Before divided by after (above 1: the fix gains), with the bounds of its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@frozen
class Measurement:
    """One cost at one size.

    `before` and `after` are medians in `unit`: "s" for each run, "bytes", "count", or "exponent" for growth
    (whose `size` is None, and whose `difference` is before minus after, with its interval). `control` is the
    ratio of the program to itself in the same measurement: the noise of the method.
    """

    claim: str
    size: int | None
    before: float
    after: float
    unit: str
    ratio: Ratio | None
    verdict: Verdict
    claimed: bool
    control: Ratio | None = None
    difference: Ratio | None = None
    samples: int = 1
    """Number of pairs of batches, or runs, of the medians."""


@frozen
class Difference:
    """One difference in behaviour after the fix."""

    kind: str
    """"value", "type", "dtype", "shape", "strides", "device", "requires_grad", "gradient", "aliasing",
    "attribute", "exception", "printed", "warned", "logged", "random stream", "setting", "order", "length",
    "module state", "file", "running" (a thread or a process left running).
    """
    path: str
    seed: int
    size: int
    before: str
    after: str
    safety: str
    """"safe" if the safe fixes alone cause it, else "unsafe"."""
    when: str = ""
    """The call in a sequence, or the derived inputs; "" for a single call on the workload's inputs."""

    def __str__(self) -> str:
        when = f", {self.when}" if self.when else ""
        return (
            f"{self.kind} of `{self.path}` at seed {self.seed}, size {self.size}{when}: "
            f"{self.before} before, {self.after} after"
        )


@frozen
class Behaviour:
    """The result of comparing the program before and after its fix over many cases."""

    seeds: int
    sizes: tuple[int, ...]
    cases: int
    """Number of compared runs, without skipped ones."""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes that are not differences: attributes that a fix adds, tolerances that were needed."""
    fewest: int | None = None
    """Number of compared seeds at the one of `sizes` with the fewest; None in older recordings."""
    larger: tuple[int, ...] = ()
    """Larger sizes at which one case was compared: the measured ones."""
    variants: tuple[str, ...] = ()
    """Variants that were compared besides single calls on the workload's inputs: sequences, derived
    inputs.
    """
    excluded: dict[str, str] = field(default_factory=dict)
    """The variants that the workload excludes, in words, and why."""

    @property
    def same(self) -> bool:
        """Whether no difference was found, and something was compared."""
        return not self.differences and self.cases > 0

    @property
    def enough(self) -> bool:
        """Whether LEAST_SEEDS were compared at each size."""
        return self.fewest is None or self.fewest >= LEAST_SEEDS


@frozen
class RuleOutcome:
    """One workload on one device."""

    subject: str
    """The code of a rule ("RL101"), or the path of the user's own file."""
    name: str
    """The rule's name, or ""."""
    workload: str
    title: str
    device: str
    unit: str
    """The unit of sizes."""
    typical: int
    verdict: Verdict
    claims: tuple[str, ...] = ()
    """The claims on this device."""
    reason: str | None = None
    """Why it was not run, or a note on the verdict."""
    behaviour: Behaviour | None = None
    measurements: tuple[Measurement, ...] = ()
    estimate: dict[str, object] | None = None
    """A promise in documentation: `claim`, `low`, `high`, `source`."""
    failed: bool = False
    """The workload crashed, hung or was killed, which must be repaired."""

    def measurement(self, claim: str, size: int | None = None) -> Measurement | None:
        """Return the measurement of `claim` at `size`: at the typical size, if none is given (growth has
        none).
        """
        wanted = None if claim == "exp" else self.typical if size is None else size
        for found in self.measurements:
            if (found.claim, found.size) == (claim, wanted):
                return found
        return None


@frozen
class Machine:
    """The measuring machine."""

    system: str
    processor: str
    cores: int
    memory: int
    """Bytes."""
    python: str
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of rlint, torch and numpy, if they are installed."""
    accelerator: str | None = None


@frozen
class Session:
    """A whole `rlint verify`."""

    machine: Machine
    date: str
    """ISO 8601, UTC."""
    seconds: float
    quick: bool
    outcomes: tuple[RuleOutcome, ...]
    interrupted: bool = False
    busy: float | None = None
    """Load of all processors by other programs just before the run in per cent, if that was measured."""

    @property
    def failed(self) -> bool:
        """Whether anything behaves differently, is slower, was compared too little, or did not finish."""
        wrong = (Verdict.DIFFERENT, Verdict.SLOWER, Verdict.NOT_ENOUGH)
        return self.interrupted or any(o.failed or o.verdict in wrong for o in self.outcomes)
