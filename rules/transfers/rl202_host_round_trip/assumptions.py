"""What a finding assumes about the tensors that are read."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    Device,
    SemanticModel,
    TypeTag,
)
from rlint.rules.transfers.rl202_host_round_trip.handed_values import handed, is_in_module
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    HostRead,
)
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import log_switch
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import is_placed_on_device, where
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_supposed
from rlint.rules.transfers.rl202_host_round_trip.wording import (
    shown,
)

_HOLDS_TENSORS = (TypeTag.TENSOR, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT)


def assumption(group: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return the assumption under which enough of the reads synchronise with a device in each step."""
    switch = log_switch(group[0], model)
    on = f"`{shown(switch, model)}` is on" if switch is not None else None
    assumed = [text for text in (placed(group, model, fewest(group)), on) if text is not None]
    return " and ".join(assumed) or None


def placed(group: Sequence[HostRead], model: SemanticModel, least: int = 1) -> str | None:
    """Return the assumption about the devices of the tensors that are read, if fewer than `least` of them are
    known to be tensors that are computed on a device.
    """
    supposed = [read.tensor for read in group if is_supposed(read, model)]
    if len(group) - len(supposed) < least:
        return _together(supposed, "is a tensor", "are tensors", model)
    if model.analysis.notes.state.assumed:
        return None  # the finding rests on another assumption already
    unsure = [read for read in group if _is_of_unknown_place(read, model)]
    if len(group) - len(unsure) >= least:
        return None
    sources = [source for read in unsure for source in handed(read.tensor, model) or ()]
    held = [source for source in sources if model.types.type_of(source).tag in _HOLDS_TENSORS]
    return _together(held or sources, "is", "are", model)


def _is_of_unknown_place(read: HostRead, model: SemanticModel) -> bool:
    """Whether a tensor may as well be in host memory: callers pass it, or an object that is no network holds
    it, and nothing tells the device.
    """
    if where(read.tensor, model) is not Device.UNKNOWN or is_placed_on_device(read.tensor, model):
        return False
    sources = handed(read.tensor, model)
    return bool(sources) and not any(is_in_module(source, model) for source in sources or ())


def _together(values: Sequence[ast.expr], one: str, several: str, model: SemanticModel) -> str | None:
    names = list(dict.fromkeys(f"`{shown(value, model)}`" for value in values))
    if len(names) == 1:
        return f"{names[0]} {one} on an accelerator"
    return f"{', '.join(names[:-1])} and {names[-1]} {several} on an accelerator" if names else None


def fewest(group: Sequence[HostRead]) -> int:
    """Return how many reads are too many: two lists (tokens and their lengths) often have two dtypes."""
    return 3 if all(read.method == "tolist" for read in group) else 2
