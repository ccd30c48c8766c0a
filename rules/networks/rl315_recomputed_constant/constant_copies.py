"""Copies to a device of a tensor in host memory that never changes."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, SemanticModel, TypeTag, descendants
from rlint.rules.networks.rl315_recomputed_constant.makers import is_maker

_COPIES = ("to", "cuda")


def copied_constant(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return `SUPPORT` of `SUPPORT.to(x.device)`, if it is a tensor in host memory that the module or the
    constructor creates from constants, and that nothing visibly replaces.
    """
    match call.func:
        case ast.Attribute(value=(ast.Name() | ast.Attribute()) as held, attr=method) if method in _COPIES:
            kind = model.types.type_of(held)
        case _:
            return None
    if kind.tag is not TypeTag.TENSOR or kind.device is not Device.HOST:
        return None
    made = _made_by_module(held, model) if isinstance(held, ast.Name) else _made_by_constructor(held, model)
    if made is None or not any(
        isinstance(part, ast.Call) and is_maker(part, model) for part in descendants(made)
    ):
        return None
    return held


def _made_by_module(held: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return the value of a variable of the module that is bound once."""
    scope = model.names.scope(held).lookup(held.id)
    if scope is None or scope.parent is not None:
        return None
    if any(held.id in inner.globals for inner in model.syntax.scopes.values()):
        return None
    match scope.bindings.get(held.id):
        case [binding] if binding.kind is BindingKind.ASSIGN and not binding.path:
            value: ast.expr | None = binding.value
            return value
    return None


def _made_by_constructor(held: ast.Attribute, model: SemanticModel) -> ast.expr | None:
    """Return the value that the constructor assigns to an attribute of `self`, if nothing else does."""
    if not model.names.is_self(held.value) or not model.types.is_setting(held):
        return None
    found: ast.expr | None = None
    for use in model.names.attribute_uses(held.attr):
        if isinstance(use.ctx, ast.Store) and model.class_of(use) is model.class_of(held):
            if found is not None:
                return None
            found = model.names.assigned(use)
    return found
