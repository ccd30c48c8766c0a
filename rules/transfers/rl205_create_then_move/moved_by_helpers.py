"""Tensors that are created in host memory as arguments of a function that moves what it gets to a device:
`to_device(torch.zeros(n))`.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    FunctionSummary,
    SemanticModel,
    Trait,
    TypeTag,
    arguments_of,
    last_names,
    models,
    parameter_of,
)
from rlint.rules.transfers._shared.creations import Creation
from rlint.rules.transfers._shared.device_moves import DeviceMove
from rlint.rules.transfers._shared.made import made_as_array, made_by
from rlint.rules.transfers._shared.made_arrays import CREATES
from rlint.rules.transfers._shared.tensor_constructors import DRAW, FILL, LEGACY, ROUNDED

MAKERS = last_names(*FILL, *ROUNDED, *DRAW, *LEGACY, *CREATES)
"""The constructors that are followed to such a call, by name."""
_OF_EXPRESSION = (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.keyword)
_OF_TENSORS = models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | models.having(
    Trait.RELOCATES | Trait.CASTS_TO, TypeTag.TENSOR
)
_LIBRARIES = ("torch.", "numpy.")


def creation_given(made: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the call of a function of the project that has the tensor of a constructor in an argument."""
    child: ast.AST = made
    for around in model.ancestors(made):
        if isinstance(around, ast.Call):
            is_method = around.func is child
            if not is_method and not (model.names.qualified(around.func) or "").startswith(_LIBRARIES):
                return around if model.types.call_targets(around) else None
        elif not isinstance(around, _OF_EXPRESSION):
            return None
        child = around
    return None


def creation_by_helper(call: ast.Call, model: SemanticModel) -> Creation | None:
    """Return the creation of the tensor that a call of a function of the project moves to a device, if the
    function does little else. Data have to be copied, so that their conversion belongs to the function.
    """
    targets = model.types.call_targets(call)
    for argument in arguments_of(call) if targets else ():
        if not all(_only_moves(each, parameter_of(argument, call, each), model) for each in targets):
            continue
        made = made_by(argument, model) or made_as_array(argument, model)
        if made is not None:
            move = DeviceMove(call, argument, None, None, continues=False)
            return Creation(move, made, None, is_conditional=False)
    return None


def _only_moves(function: FunctionSummary, parameter: str | None, model: SemanticModel) -> bool:
    """Whether a function copies a parameter to a device and returns it, judging by what it does besides: it
    calls methods of tensors only, sets no attribute and steps no environment.
    """
    if parameter not in function.copies or not function.returns_values:
        return False
    drives = function.drivers or any(loop.drivers for loop in function.loops)
    if function.sets or drives or model.nn.learns(function):
        return False
    # for a list, it may call itself for each item
    if any(site.method not in _OF_TENSORS and site.path != function.path for site in function.calls):
        return False
    return any(kind.tag in (TypeTag.TENSOR, TypeTag.UNKNOWN) for kind in function.returns)
