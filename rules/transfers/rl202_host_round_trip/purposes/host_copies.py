"""Tensors that are read from the device although the host holds their numbers: it copied them there."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, Trait, TypeTag, models
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.purposes.computed_there import is_changed, moves_array

_SAME_NUMBERS = models.having(Trait.RESHAPES | Trait.CASTS, TypeTag.TENSOR) | {
    "clone",
    "contiguous",
    "detach",
    "to",
}
_COPIES = frozenset({"cpu", "numpy", "places", "tolist"})
PLACES = frozenset({"argwhere", "nonzero", "where"})
"""Functions and methods whose result is as large as there are elements that hold: the host waits for it."""
_DEPTH = 8


def places_found(call: ast.Call, model: SemanticModel) -> HostRead | None:
    """Return the read of a call that looks for the elements which hold: `torch.where(done)`,
    `done.nonzero()`.
    """
    name = model.names.qualified(call.func)
    match call:
        case ast.Call(func=ast.Attribute(attr=found), args=[given, *others]) if name == f"torch.{found}":
            is_choice = found == "where" and bool(others or call.keywords)
            return HostRead(call, given, "places") if found in PLACES and not is_choice else None
        case ast.Call(func=ast.Attribute(value=given, attr="argwhere" | "nonzero"), args=[]) if name is None:
            return HostRead(call, given, "places")
    return None


def copied_from_host(read: HostRead, model: SemanticModel) -> ast.Call | None:
    """Return the call that copied to the device, unchanged, what a read copies back: `states =
    torch.from_numpy(states).to(device)`, then `states.cpu()`.
    """
    if read.method not in _COPIES:
        return None
    value = read.tensor
    for _ in range(_DEPTH):
        match value:
            case ast.Name():
                bound = model.dataflow.definitions(value)
                if len(bound) != 1 or bound[0].kind is not BindingKind.ASSIGN or bound[0].path:
                    return None
                if bound[0].value is None or is_changed(value, model):
                    return None
                value = bound[0].value
            case ast.Call() if moves_array(value, model):
                return value
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
                method in _SAME_NUMBERS and model.names.qualified(value.func) is None
            ):
                value = owner
            case ast.Attribute(value=owner, attr="data"):
                value = owner
            case _:
                return None
    return None
