"""Which repeated evaluations are worth a variable."""

from __future__ import annotations

import ast

from rlint.rule import Device, Function, SemanticModel, Trait, TypeTag, descendants, models, target_of_move
from rlint.rules.computation._shared import sharing

_TEXT = (TypeTag.STR, TypeTag.BYTES)
_REDUCTIONS = models.having(Trait.REDUCES, TypeTag.NDARRAY) - {"all", "any", "ptp"} | {"median"}
"""Reduction methods that read all of an array, of any library."""
_OF_TENSORS = {"entropy", "item"} | models.having(Trait.ELEMENTWISE, TypeTag.TENSOR)
"""Methods of tensors and distributions only that compute as much, or synchronise with the device."""
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_MOVES = frozenset({"cuda", "to"})
"""Methods that copy a tensor from the host to a device, which blocks."""
_COLLECTS = (
    models.having(Trait.ITERATES, "builtins")
    - models.giving(TypeTag.ITERATOR, "builtins")
    - {"builtins.all", "builtins.any", "builtins.next"}
)
"""Functions that evaluate a `map` at once."""
_DRAW_FIGURES = ("matplotlib.", "pylab.", "seaborn.")
_AS_COSTLY_AS_ITEMS = frozenset({"builtins.any", "builtins.all"})
"""These stop at the first item that decides."""


def is_worth_keeping(node: ast.expr, model: SemanticModel) -> bool:
    """Whether storing the value of this expression would be worthwhile, and would give the same value."""
    if not sharing.is_value(node, model):
        return False
    if isinstance(node, ast.Call):
        return is_costly(node, model) and model.effects.is_repeatable(node)
    costly = (is_costly(call, model) for call in descendants(node) if isinstance(call, ast.Call))
    return any(costly) and model.effects.is_repeatable(node)


def is_costly(call: ast.Call, model: SemanticModel) -> bool:
    """Whether this is a call of relevant cost. The methods of strings are another rule's."""
    if isinstance(call.func, ast.Attribute) and model.names.qualified(call.func) is None:
        kind = model.types.type_of(call.func.value)
        if kind.tag in _TEXT:
            return False
        if copies_to_device(call, model) or copies_to_host(call, model):
            return True
        if not kind and not model.types.call_targets(call):
            return call.func.attr in _REDUCTIONS or call.func.attr in _OF_TENSORS
    if model.names.qualified(call.func) in _AS_COSTLY_AS_ITEMS:
        inside = (
            node for argument in call.args for node in descendants(argument) if isinstance(node, ast.Call)
        )
        return any(is_costly(node, model) for node in inside)
    if model.names.qualified(call.func) == "builtins.abs":
        return any(_is_of_array(equal, model) for equal in model.dataflow.equal_to(call))
    return not model.effects.is_cheap(call) or collects_results(call, model)


def collects_results(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call makes a collection of what `map` computes for each item: `set(map(tuple, places))`."""
    match call.args:
        case [ast.Call(func=func, args=[_, _, *_])] if model.names.qualified(func) == "builtins.map":
            return model.names.qualified(call.func) in _COLLECTS
    return False


def copies_to_device(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call copies a tensor from host memory to a device: `noise.to(device)`, `noise.cuda()`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _MOVES:
        return False
    target = target_of_move(call) if call.func.attr == "to" else None
    if target is None and call.func.attr == "to":
        return False
    kind = model.types.type_of(call.func.value)
    return (
        kind.tag is TypeTag.TENSOR
        and kind.device is Device.HOST
        and (
            target is None
            or (model.types.is_device(target) and model.types.device_of(target) is not Device.HOST)
        )
    )


def copies_to_host(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call may copy a tensor from a device to host memory: `states.cpu()`."""
    match call:
        case ast.Call(func=ast.Attribute(value=copied, attr="cpu"), args=[], keywords=[]):
            kind = model.types.type_of(copied)
            return kind.tag is TypeTag.TENSOR and kind.device is not Device.HOST
    return False


def _is_of_array(call: ast.expr, model: SemanticModel) -> bool:
    """Whether the result of `abs` is an array: its argument is one, or a method of tensors is called on what
    is computed from it, as in `(abs(error) <= limit).float()`.
    """
    kind = model.types.type_of(call.args[0]) if isinstance(call, ast.Call) and call.args else None
    if kind is None or kind:
        return kind is not None and kind.tag in _ARRAYS
    for parent in model.ancestors(call):
        if isinstance(parent, ast.Attribute) and isinstance(model.parent(parent), ast.Call):
            return models.method_fact(TypeTag.TENSOR, parent.attr) is not None
        if not isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp)):
            return False
    return False


def is_covered(node: ast.expr, model: SemanticModel) -> bool:
    """Whether the repeated expression is part of a larger one that is repeated as a whole."""
    for parent in model.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        if not isinstance(parent, (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp)):
            continue
        if model.dataflow.repeated(parent) is not None and is_worth_keeping(parent, model):
            return True
    return False


def is_setup(node: ast.expr, model: SemanticModel) -> bool:
    """Whether this is evaluated while an object is constructed, a function or class defined, or a figure
    drawn: once each.
    """
    if isinstance(model.syntax.statement(node), (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return True
    function = model.function(node)
    return function is not None and (
        function.name in ("__init__", "__post_init__") or model.once(_draws_figure, function)
    )


def _draws_figure(function: Function, model: SemanticModel) -> bool:
    """Whether a function draws a figure, which takes many times as long as what it computes for it."""
    return any(
        isinstance(node, ast.Call) and (model.names.qualified(node.func) or "").startswith(_DRAW_FIGURES)
        for node in descendants(function)
    )
