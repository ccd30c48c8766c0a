"""Steps with few reads, which cost little together."""

from __future__ import annotations

from collections.abc import Sequence

from rlint.rule import SemanticModel
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_FEW = 4
_CHEAP = "a few reads once per step: they only add up where there are many, or in a loop"


def why_cheap(reads: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return why these reads of one step cost little together: there are few, and none is repeated. Each
    takes a call and a wait for kernels that the step waits for in any case.
    """
    if len(reads) > _FEW:
        return None
    for read in reads:
        loops = model.frequency.loops(read.node)
        if loops and loops[0] is not model.frequency.driving_loop(read.node):
            return None  # several times per step
    return _CHEAP
