"""The interface for measured code: what to run on which inputs, and what it should gain."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    import torch

CLAIMS = ("time", "cpu", "mem", "alloc", "sync", "exp")
"""Costs that can be claimed: wall time, processor time, peak memory, allocations, synchronisations,
growth.
"""


AGAIN, CHANGED = "again", "changed"
NAN, INFINITY, NEGATIVE_ZERO, EMPTY, STRIDED = "nan", "infinity", "negative zero", "empty", "strided"
VARIANTS: Mapping[str, str] = {
    AGAIN: "several calls, on the same inputs and on others",
    CHANGED: "several calls, with inputs and results modified in between",
    NAN: "inputs with NaN",
    INFINITY: "inputs with infinities",
    NEGATIVE_ZERO: "inputs with -0.0",
    EMPTY: "empty inputs",
    STRIDED: "inputs that are not contiguous",
}
"""Variants compared besides single calls on the workload's own inputs; `Workload.excludes` leaves some
out.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs: everything that `Workload.prepare` may depend on.

    `size` counts the workload's `unit`. `device` is "cpu", "cuda" or "mps".
    """

    seed: int
    size: int
    device: str = "cpu"

    def random(self) -> random.Random:
        """Return a Python random generator, with the same seed in each call."""
        return random.Random(f"{self.seed} {self.size}")  # noqa: S311 - inputs, no secrets

    def numpy(self) -> np.random.Generator:
        """Return a numpy generator, with the same seed in each call."""
        import numpy as np

        return np.random.default_rng([self.seed, self.size])

    def torch(self) -> torch.Generator:
        """Return a torch generator on the host, with the same seed in each call."""
        import torch

        return torch.Generator().manual_seed(self.seed * 1_000_003 + self.size)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much two numbers may differ, and why they need not be equal.

    They agree if `|before - after| <= atol + rtol * |before|`, as in `numpy.allclose`.
    """

    reason: str
    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expected value from documentation, shown beside the measured figure: before/after of `claim`."""

    claim: str
    low: float
    high: float
    source: str
    """The document with the quoted promise: `S0.1: "~50% faster rewards"`."""


class Workload:
    """Drives one piece of a program. Subclass it, with a docstring whose first line is its title.

    The program is loaded twice, unchanged and with rlint's fixes, and `prepare` and `run` are called in the
    same way with both. Only `run` is measured. All random streams (Python, numpy, torch) are seeded from the
    case before `prepare` and again before `run`.
    """

    claims: ClassVar[tuple[str, ...]] = ("time",)
    """Costs that the fix should reduce, from CLAIMS; `sync:cuda` is claimed on that kind of device only.

    Empty: only behaviour is compared, and nothing measured.
    """
    sizes: ClassVar[tuple[int, ...]] = ()
    """The measured sizes, ascending; at least four if growth ("exp") is claimed."""
    typical: ClassVar[int | None] = None
    """The size whose figures represent the workload; the largest, if none is given."""
    unit: ClassVar[str] = "items"
    """What a size counts: "transitions", "rows", "words"."""
    small_sizes: ClassVar[tuple[int, ...]] = (0, 1, 2, 7)
    """Sizes at which behaviour is compared besides the smallest of `sizes`; costs are not measured there."""
    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    """The kinds of devices that the workload can run on."""
    threads: ClassVar[int] = 1
    """Threads that numerical libraries may use while it runs."""
    tolerances: ClassVar[Mapping[str, Tolerance]] = {}
    """Tolerances by path of the compared value (`result.loss`, `inputs[0].weight`; `*` and `?` as in file
    names).
    """
    allowed: ClassVar[Mapping[str, str]] = {}
    """Differences that the fix is meant to cause: path patterns (`logged`, `inputs.*_before`), and why."""
    excludes: ClassVar[Mapping[str, str]] = {}
    """Inputs and sequences of calls that the program does not support, and why: `{"nan": "rewards are
    finite"}`.

    Besides single calls on the inputs of `prepare`, rlint compares several calls on the same and on other
    inputs ("again"), also with inputs and results modified in between ("changed"), and inputs derived from
    those of `prepare`: with "nan", "infinity" or "negative zero" among their numbers, "empty", or not
    contiguous in memory ("strided"). Numbers are derived only if no `tolerances` are declared. If the program
    raises on derived inputs before the fix, it has to raise the same type of exception after it.
    """
    estimate: ClassVar[Estimate | None] = None

    def prepare(self, program: ModuleType, case: Case) -> Any:
        """Return the inputs of one run: whatever `run` needs, new in each call."""
        return case

    def run(self, program: ModuleType, inputs: Any) -> Any:
        """Run the program, and return everything that a caller would see."""
        raise NotImplementedError

    def outcome(self, program: ModuleType, inputs: Any, result: Any) -> Mapping[str, Any]:
        """Return the objects that must be equal after `run`, by name; the result and the inputs unless
        overridden.

        Exceptions, output, warnings, log records and random streams are always compared.
        """
        return {"result": result, "inputs": inputs}

    # --- what the harness reads ---

    @property
    def name(self) -> str:
        """Return the class's name in small letters with hyphens."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", type(self).__name__).lower()

    @property
    def title(self) -> str:
        """Return the first line of the docstring, without its full stop."""
        return (type(self).__doc__ or self.name).strip().partition("\n")[0].rstrip(".")

    @property
    def typical_size(self) -> int:
        """Return the size whose figures represent the workload."""
        return self.typical if self.typical is not None else self.sizes[-1]

    def claims_on(self, device: str) -> tuple[str, ...]:
        """Return the claims for a device type."""
        return claims_on(device, self.claims)


def claims_on(device: str, claims: Sequence[str]) -> tuple[str, ...]:
    """Return the `claims` for a kind of device, without its name."""
    found = [claim.partition(":") for claim in claims]
    return tuple(claim for claim, _, only in found if only in ("", device))


def mistakes_of(workload: Workload) -> list[str]:
    """Return the problems of a workload's declarations, each as a clause."""
    wrong = []
    if not workload.sizes:
        wrong.append("`sizes` is empty: name the sizes to measure")
    elif list(workload.sizes) != sorted(set(workload.sizes)) or workload.sizes[0] < 0:
        wrong.append("`sizes` must ascend, from 0 or more")
    elif workload.typical is not None and workload.typical not in workload.sizes:
        wrong.append(f"`typical` is {workload.typical}, which must be one of `sizes`")
    unknown = [claim for claim in workload.claims if claim.partition(":")[0] not in CLAIMS]
    if unknown:
        wrong.append(f"`claims` does not support {', '.join(unknown)}; it takes {', '.join(CLAIMS)}")
    if "exp" in {claim.partition(":")[0] for claim in workload.claims} and len(workload.sizes) < 4:
        wrong.append('`claims` has "exp", which requires at least four `sizes`')
    if not workload.devices:
        wrong.append("`devices` is empty")
    for path, tolerance in workload.tolerances.items():
        if not tolerance.reason.strip():
            wrong.append(f"the tolerance of `{path}` gives no reason")
    wrong += [
        f"the exception for `{path}` gives no reason"
        for path, why in workload.allowed.items()
        if not why.strip()
    ]
    unknown = [name for name in workload.excludes if name not in VARIANTS]
    if unknown:
        wrong.append(f"`excludes` does not support {', '.join(unknown)}; it takes {', '.join(VARIANTS)}")
    wrong += [
        f"excluding `{name}` gives no reason" for name, why in workload.excludes.items() if not why.strip()
    ]
    if type(workload).run is Workload.run:
        wrong.append("`run` is not defined")
    return wrong
