"""Arrays that may share their memory with a tensor: new ones that no other code holds, and others."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.rule import Binding, BindingKind, EscapeLevel, Scope, SemanticModel, TypeTag


def is_new(array: ast.expr, call: ast.Call, model: SemanticModel) -> bool:
    """Whether only the call's argument holds the array: it is created there, or just before for it alone, in
    the same function.
    """
    if model.types.type_of(array).fresh:
        return True
    if not isinstance(array, ast.Name) or _is_of_script(array, model):
        return False
    return _reads_if_made_for(array, call, model) == [array]


def is_filled(array: ast.expr, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function or script creates an array, only fills it, and does not use it after the call."""
    if not isinstance(array, ast.Name):
        return False
    uses = _reads_if_made_for(array, call, model)
    return uses is not None and all(use is array or _is_filled_before(use, array, model) for use in uses)


def _reads_if_made_for(array: ast.Name, call: ast.Call, model: SemanticModel) -> list[ast.Name] | None:
    """Return the reads of an array that a function creates again before each run of a call; None if it does
    not, or if other functions can reach the array.
    """
    scope = model.names.scope(array).lookup(array.id)
    if scope is None or model.names.is_captured(array.id, scope):
        return None
    if not scope.is_function and not _is_of_script(array, model):
        return None
    made = model.dataflow.definitions(array)
    if not made or not all(_is_made_for(binding, call, model) for binding in made):
        return None
    if not model.names.is_bound_each_pass(array):
        return None  # in a later pass, it may be the array of an earlier one
    return _reads_of(made, array.id, scope, model)


def _is_of_script(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable is one of a script at module level, which no other file imports."""
    scope = model.names.scope(name).lookup(name.id)
    return scope is not None and scope.parent is None and not model.program.is_imported(name.id)


def _reads_of(bindings: Collection[Binding], name: str, scope: Scope, model: SemanticModel) -> list[ast.Name]:
    """Return the reads of a variable that may read one of these bindings: not those of the tensor that
    replaces the array, as in `rows = torch.tensor(rows)`.
    """
    return [
        use
        for use in model.names.reads(name, scope)
        if any(binding in bindings for binding in model.dataflow.definitions(use))
    ]


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


def _is_filled_before(use: ast.Name, array: ast.Name, model: SemanticModel) -> bool:
    """Whether a use is an element or slice, or a size, before the array is passed on."""
    part = model.parent(use)
    is_part = isinstance(part, ast.Subscript) and part.value is use
    is_size = isinstance(part, ast.Attribute) and part.attr in ("shape", "size", "dtype")
    return (is_part or is_size) and model.source.span(use) < model.source.span(array)


def is_left_alone(name: ast.Name, model: SemanticModel) -> bool:
    """Whether the array of a local variable is neither written to nor kept, as far as is visible."""
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return False
    uses = model.names.uses(name.id, scope)
    if any(_is_changed_later(use, name, model) for use in uses):
        return False
    reads = _reads_of(model.dataflow.definitions(name), name.id, scope, model)
    return all(
        model.dataflow.use_of(use).escape_level <= EscapeLevel.HANDED for use in reads if use is not name
    )


def _is_changed_later(use: ast.Name, name: ast.Name, model: SemanticModel) -> bool:
    """Whether a use is an `x += y` that may run after the array is passed on: not one before, in the same
    loops.
    """
    change = model.parent(use)
    if not isinstance(change, ast.AugAssign):
        return False
    is_earlier = model.source.span(change) < model.source.span(name)
    return not is_earlier or model.frequency.loops(change) != model.frequency.loops(name)


def is_written_to(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a function writes to the array of a local variable: `state += noise`, `state[0] = 1.0`."""
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return True
    return any(writes_part(use, model) for use in model.names.uses(name.id, scope))


def writes_part(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a use of a variable or attribute writes to its array: `rows[i] = row`, `rows *= 2`."""
    parent = model.parent(use)
    if isinstance(parent, ast.AugAssign):
        return parent.target is use
    return isinstance(parent, ast.Subscript) and parent.value is use and not isinstance(parent.ctx, ast.Load)
