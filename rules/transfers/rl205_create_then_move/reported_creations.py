"""Tensors that are created in host memory, moved to a device, and reported there."""

from __future__ import annotations

import ast

from rlint.rule import Heat, SemanticModel
from rlint.rules.transfers._shared.creations import Creation, creation_of, is_created_on_device
from rlint.rules.transfers._shared.device_moves import move_of
from rlint.rules.transfers._shared.made_arrays import copies_literal
from rlint.rules.transfers._shared.tensor_constructors import is_data
from rlint.rules.transfers.rl205_create_then_move.moved_by_helpers import creation_by_helper


def reported_creation(call: ast.Call, model: SemanticModel) -> Creation | None:
    """Return the creation of the tensor that a hot call moves, if it is reported at this call; query it
    through `model.once`.
    """
    if model.frequency.heat_of(call).level < Heat.HOT:
        return None
    move = move_of(call, model)
    creation = creation_of(move, model) if move is not None else creation_by_helper(call, model)
    if creation is None or is_created_on_device(creation, model):
        model.silent("{} is not created in host memory by a call that takes `device=`", call)
        return None
    if any(model.source.span(other) < model.source.span(call) for other in creation.again):
        model.silent("{} is reported where it is moved first", call)
        return None
    data = data_of(creation, model)
    if data and all(_is_empty(each) for each in data):
        model.silent("{} has no items to copy", call)
        return None
    if data and move is None:
        model.silent("{} copies its data to the device in any case", call)
        return None
    if data and creation.move.continues:
        model.silent("{} does not wait for the copy, and `device=` would", call)
        return None
    return creation


def data_of(creation: Creation, model: SemanticModel) -> list[ast.Call]:
    """Return the constructors that copy existing data."""
    made = creation.made
    return [
        call
        for call in made.calls
        if made.filled_by is None and (copies_literal(call, model) if made.is_array else is_data(call, model))
    ]


def _is_empty(call: ast.Call) -> bool:
    """Whether nothing is copied: `torch.tensor([])`."""
    match call.args[:1]:
        case [ast.List(elts=[]) | ast.Tuple(elts=[])]:
            return True
    return False
