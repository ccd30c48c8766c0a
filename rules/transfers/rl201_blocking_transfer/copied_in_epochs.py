"""Arrays that a constructor copies to the device in each epoch, whole or batch by batch."""

from __future__ import annotations

import ast

from rlint.rule import Device, SemanticModel, TypeTag, descendants
from rlint.rules.transfers._shared.epoch_loops import CopiedAgain, copied_again

_MAKERS = ("torch.as_tensor", "torch.tensor")
_ON_HOST = (TypeTag.LIST, TypeTag.NDARRAY, TypeTag.UNKNOWN)


def copied_in_epochs(call: ast.Call, model: SemanticModel) -> CopiedAgain | None:
    """Return the data of `torch.as_tensor(states[rows], device=device)`, if they stay the same in a loop over
    epochs around it.
    """
    if model.names.qualified(call.func) not in _MAKERS or len(call.args) != 1:
        return None
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    if not devices or model.types.device_of(devices[0]) in (Device.HOST, Device.OTHER):
        return None
    again = copied_again(call.args[0], model)
    if again is None or model.types.type_of(again.data).tag not in _ON_HOST:
        return None
    return again


def copied_next_to(call: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the calls in the same block that copy data so, this one included, in order."""
    block, _ = model.syntax.block(model.syntax.statement(call))
    found: list[ast.Call] = model.once(_copied_in, block[0])
    return found


def _copied_in(first: ast.stmt, model: SemanticModel) -> list[ast.Call]:
    block, _ = model.syntax.block(first)
    found = [
        node
        for statement in block
        for node in descendants(statement)
        if isinstance(node, ast.Call)
        and model.syntax.block(model.syntax.statement(node))[0] is block
        and copied_in_epochs(node, model) is not None
    ]
    return sorted(found, key=model.source.span)
