"""Bounds of a space that are converted or copied to a device each time: `space.low.clone().to(device)`."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Function, SemanticModel, Trait, TypeTag, descendants, models, root_of
from rlint.rules.computation.rl507_per_call_clip_bounds.bounds import is_end

_CONVERTS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy") | {"torch.from_numpy"}
_COPIES = (
    models.having(
        Trait.COPIES | Trait.DETACHES | Trait.RELOCATES | Trait.CASTS | Trait.CASTS_TO, TypeTag.TENSOR
    )
    | models.having(Trait.COPIES | Trait.CASTS_TO, TypeTag.NDARRAY)
    | {"to"}
)


def copied_ends(around: Function | ast.Module, model: SemanticModel) -> list[ast.Call]:
    """Return the outermost calls of all such chains in a function, or at module level, in source order."""
    function = around if not isinstance(around, ast.Module) else None
    return [
        node
        for node in descendants(around)
        if isinstance(node, ast.Call) and model.function(node) is function and copied_end(node, model)
    ]


def copied_end(call: ast.Call, model: SemanticModel) -> ast.Attribute | None:
    """Return the bounds that a chain of conversions and copies begins with, given its outermost call."""
    match model.parent(call):
        case ast.Attribute(attr=method) if method in _COPIES:
            return None  # a part of the chain
        case ast.Call(func=func) as outer if (
            call in outer.args[:1] and model.names.qualified(func) in _CONVERTS
        ):
            return None
    value: ast.expr = call
    while isinstance(value, ast.Call):
        inner = _converted(value, model)
        if inner is None:
            return None
        value = inner
    if not isinstance(value, ast.Attribute) or not is_end(value, model):
        return None
    is_tensor = model.types.type_of(call).tag is TypeTag.TENSOR
    return value if is_tensor and not _is_of_iteration(value, model) else None


def _is_of_iteration(end: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a loop takes the space from another object in each iteration: `for env in envs`."""
    root = root_of(end)
    bindings = model.dataflow.definitions(root) if isinstance(root, ast.Name) else []
    return any(binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) for binding in bindings)


def _converted(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return what a call converts or copies."""
    qualified = model.names.qualified(call.func)
    if qualified in _CONVERTS:
        return call.args[0] if call.args else None
    match call.func:
        case ast.Attribute(value=value, attr=method) if qualified is None and method in _COPIES:
            return value
    return None
