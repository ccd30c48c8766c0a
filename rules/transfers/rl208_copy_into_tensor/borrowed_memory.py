"""Arrays that may share their memory with a tensor: new ones that no other code holds, and others."""

from __future__ import annotations

import ast

from rlint.rule import Binding, BindingKind, EscapeLevel, SemanticModel, TypeTag


def is_new(array: ast.expr, call: ast.Call, model: SemanticModel) -> bool:
    """Whether only the call's argument holds the array: it is created there, or just before for it alone."""
    if model.types.type_of(array).fresh:
        return True
    if not isinstance(array, ast.Name):
        return False
    scope = model.names.scope(array).lookup(array.id)
    if scope is None or not scope.is_function or model.names.is_captured(array.id, scope):
        return False
    return (
        model.names.uses(array.id, scope).count(array) == 1
        and len(model.names.reads(array.id, scope)) == 1
        and all(_is_made_for(binding, call, model) for binding in model.dataflow.definitions(array))
    )


def _is_made_for(binding: Binding, call: ast.Call, model: SemanticModel) -> bool:
    value = binding.value
    if binding.kind is not BindingKind.ASSIGN or binding.path or value is None:
        return False
    targets = binding.statement.targets if isinstance(binding.statement, ast.Assign) else [None]
    kind = model.types.type_of(value)
    return (
        len(targets) == 1
        and kind.tag is TypeTag.NDARRAY
        and kind.fresh
        and model.frequency.loops(binding.statement) == model.frequency.loops(call)
    )


def is_left_alone(name: ast.Name, model: SemanticModel) -> bool:
    """Whether the array of a local variable is neither written to nor kept, as far as is visible."""
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return False
    uses = [use for use in model.names.uses(name.id, scope) if use is not name]
    return not any(isinstance(model.parent(use), ast.AugAssign) for use in uses) and all(
        model.dataflow.use_of(use).escape_level <= EscapeLevel.HANDED
        for use in uses
        if isinstance(use.ctx, ast.Load)
    )


def is_written_to(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a function writes to the array of a local variable: `state += noise`, `state[0] = 1.0`."""
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return True
    for use in model.names.uses(name.id, scope):
        parent = model.parent(use)
        if isinstance(parent, ast.AugAssign) and parent.target is use:
            return True
        if isinstance(parent, ast.Subscript) and parent.value is use and not isinstance(parent.ctx, ast.Load):
            return True
    return False
