"""What a finding assumes about the tensors that are read."""

from __future__ import annotations

from collections.abc import Sequence

from rlint.rule import (
    SemanticModel,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    HostRead,
)
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import log_switch
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_supposed
from rlint.rules.transfers.rl202_host_round_trip.wording import (
    shown,
)


def assumption(group: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return the assumption under which enough of the reads synchronise with a device in each step."""
    switch = log_switch(group[0], model)
    on = f"`{shown(switch, model)}` is on" if switch is not None else None
    assumed = [text for text in (placed(group, model, fewest(group)), on) if text is not None]
    return " and ".join(assumed) or None


def placed(group: Sequence[HostRead], model: SemanticModel, least: int = 1) -> str | None:
    """Return the assumption about the devices of the tensors that are read, if fewer than `least` of them are
    known to be tensors.
    """
    supposed = [read for read in group if is_supposed(read, model)]
    if len(group) - len(supposed) >= least:
        return None
    names = list(dict.fromkeys(f"`{shown(read.tensor, model)}`" for read in supposed))
    if len(names) == 1:
        return f"{names[0]} is a tensor on an accelerator"
    return f"{', '.join(names[:-1])} and {names[-1]} are tensors on an accelerator" if names else None


def fewest(group: Sequence[HostRead]) -> int:
    """Return how many reads are too many: two lists (tokens and their lengths) often have two dtypes."""
    return 3 if all(read.method == "tolist" for read in group) else 2
