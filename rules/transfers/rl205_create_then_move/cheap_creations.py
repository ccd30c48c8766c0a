"""Creations on the host that cost little."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, models
from rlint.rules.transfers._shared.in_steps import is_in_gradient_steps, is_repeated
from rlint.rules.transfers._shared.made import LEGACY, Creation, copies_nothing

_SHARED = "the array has the dtype of the tensor: nothing is copied in host memory"
_HOST_DATA = "the data are copied to the device either way: only a call and a copy in host memory are saved"
_CONSTANT = "it is one small constant in each gradient step, which takes far longer than a copy of it"
_FILLS = models.having(Trait.ALLOCATES, "torch") | {"torch.arange", "torch.linspace"}
_FEW_DIMENSIONS = 2


def why_cheap(creation: Creation, data: list[ast.Call], model: SemanticModel) -> str | None:
    """Return why a creation costs little: host data have to be moved, constants and random numbers do not,
    and a small constant takes microseconds.
    """
    if copies_nothing(creation, model):
        return _SHARED
    calls = creation.made.calls
    if data and len(data) == len(calls):
        return _HOST_DATA
    if creation.made.drawn_from or not all(_is_small_constant(call, model) for call in calls):
        return None
    move = creation.move.call
    once = is_in_gradient_steps(move, model) and not is_repeated(move, model)
    return _CONSTANT if once else None


def _is_small_constant(call: ast.Call, model: SemanticModel) -> bool:
    qualified = model.names.qualified(call.func)
    if qualified in LEGACY or qualified not in _FILLS:
        return False
    sizes = call.args
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    return len(sizes) <= _FEW_DIMENSIONS or qualified.endswith(("range", "space"))
