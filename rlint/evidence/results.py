"""What verifying found, as plain data that reports and evidence files hold. Imports nothing heavy."""

from __future__ import annotations

import enum
from dataclasses import field

from rlint.frozen import frozen

LEAST_SEEDS = 20
"""Seeds that are compared at each size before a program is said to behave the same."""
BUSY = 20
"""Per cent of all processors that other programs may take before timings are said to be disturbed."""


class Verdict(enum.Enum):
    """What may be said of one claim, and of one workload on one device."""

    FASTER = "faster"
    """Better in what was claimed: less time, memory, processor time, fewer synchronisations, growth."""
    NO_CHANGE = "no change"
    SLOWER = "slower"
    """Worse in what was claimed."""
    DIFFERENT = "different behaviour"
    NOT_RUN = "not run here"
    NOT_ENOUGH = "not enough cases"
    """No difference was seen, but fewer cases were compared than it takes to say that there is none."""


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
    (whose `size` is None, and whose `difference` is before minus after, with its interval).
    `control` is the ratio of the program to itself, measured along: what the instrument makes of nothing.
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
    """Pairs of batches, or runs, that the medians are of."""


@frozen
class Difference:
    """One way in which the program behaves otherwise after the fix."""

    kind: str
    """"value", "type", "dtype", "shape", "strides", "device", "requires_grad", "gradient", "aliasing",
    "attribute", "exception", "printed", "warned", "logged", "random stream", "setting", "order", "length",
    "module state", "file", "running" (a thread or a process that is left)."""
    path: str
    seed: int
    size: int
    before: str
    after: str
    safety: str
    """"safe" where the safe fixes alone do it, else "unsafe"."""
    when: str = ""
    """In which call of several, or on what other inputs than the workload's; "" in a single call on those."""

    def __str__(self) -> str:
        when = f", {self.when}" if self.when else ""
        return (
            f"{self.kind} of `{self.path}` at seed {self.seed}, size {self.size}{when}: "
            f"{self.before} before, {self.after} after"
        )


@frozen
class Behaviour:
    """What comparing the program before and after its fix over many cases showed."""

    seeds: int
    sizes: tuple[int, ...]
    cases: int
    """Runs that were compared; none that was skipped."""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    """What is no difference but should be known: attributes that a fix adds, tolerances that were needed."""
    fewest: int | None = None
    """Seeds that were compared at the one of `sizes` that has the fewest; None in older recordings."""
    larger: tuple[int, ...] = ()
    """Larger sizes at which one case was compared: those that are measured."""
    variants: tuple[str, ...] = ()
    """What was compared besides single calls on the workload's inputs: sequences, derived inputs."""
    excluded: dict[str, str] = field(default_factory=dict)
    """What the workload leaves out of that, in words, and why."""

    @property
    def same(self) -> bool:
        """Whether nothing was seen to differ, and something was compared."""
        return not self.differences and self.cases > 0

    @property
    def enough(self) -> bool:
        """Whether LEAST_SEEDS were compared at each size."""
        return self.fewest is None or self.fewest >= LEAST_SEEDS


@frozen
class RuleOutcome:
    """One workload on one device."""

    subject: str
    """The code of a rule ("RL101"), or the path of a person's own file."""
    name: str
    """The rule's name, or ""."""
    workload: str
    title: str
    device: str
    unit: str
    """What sizes count."""
    typical: int
    verdict: Verdict
    claims: tuple[str, ...] = ()
    """What is claimed on this device."""
    reason: str | None = None
    """Why it was not run, or what a reader should know of the verdict."""
    behaviour: Behaviour | None = None
    measurements: tuple[Measurement, ...] = ()
    estimate: dict[str, object] | None = None
    """A document's promise: `claim`, `low`, `high`, `source`."""
    failed: bool = False
    """The workload crashed, hung or was killed, which is nobody's verdict but has to be mended."""

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
    """Where it was measured."""

    system: str
    processor: str
    cores: int
    memory: int
    """Bytes."""
    python: str
    versions: dict[str, str] = field(default_factory=dict)
    """Of rlint, torch and numpy, where they are installed."""
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
    """Per cent of all processors that other programs took just before the run, if that was looked at."""

    @property
    def failed(self) -> bool:
        """Whether something behaves otherwise, is slower, was compared too little, or did not finish."""
        wrong = (Verdict.DIFFERENT, Verdict.SLOWER, Verdict.NOT_ENOUGH)
        return self.interrupted or any(o.failed or o.verdict in wrong for o in self.outcomes)
