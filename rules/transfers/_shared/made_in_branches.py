"""Tensors that branches create, or reshape, before they are moved to a device."""

from __future__ import annotations

import ast

from rlint.rule import Binding, BindingKind, SemanticModel
from rlint.rules.transfers._shared.device_moves import DeviceMove
from rlint.rules.transfers._shared.made import VIEWS, is_view, measures
from rlint.rules.transfers._shared.tensor_constructors import is_constructor

_MOST = 4
"""Maximum number of assignments to a variable that are compared."""


def made_in_branches(move: DeviceMove, model: SemanticModel) -> list[ast.Call]:
    """Return the constructors of a tensor that a variable holds, if it has several assignments: each branch
    creates it (`if pixels: x = torch.tensor(…) else: x = torch.tensor(…)`), or one reshapes it (`if not
    batched: x = x.unsqueeze(0)`). None if anything else uses the tensor before it is moved.
    """
    name = move.source
    if not isinstance(name, ast.Name):
        return []
    bound: list[Binding] = []
    made = _constructors(name, bound, model)
    scope = model.names.scope(name).lookup(name.id)
    if len(bound) < 2 or not made or scope is None or not scope.is_function:
        return []
    if model.names.is_captured(name.id, scope):
        return []
    values = [binding.value for binding in bound]
    after = _end_of_device_branch(move.call, model)
    for read in model.names.reads(name.id, scope):
        if read is name or not any(each in bound for each in model.dataflow.definitions(read)):
            continue
        if after is not None and model.source.span(read)[0] >= after:
            continue
        if not measures(read, model) and not any(_root_of(value) is read for value in values):
            return []
    return sorted(made, key=model.source.span)


def _end_of_device_branch(move: ast.Call, model: SemanticModel) -> int | None:
    """Return where the branch ends that moves the tensor only if there is a device."""
    around = model.parent(model.syntax.statement(move))
    if isinstance(around, ast.If) and not around.orelse and model.types.tests_device(around.test):
        return model.source.span(around)[1]
    return None


def _constructors(name: ast.Name, bound: list[Binding], model: SemanticModel) -> list[ast.Call]:
    """Return the constructors of all values of a variable, and collect its assignments; none if a value has
    another origin.
    """
    found: dict[ast.Call, None] = {}
    waiting = list(model.dataflow.definitions(name))
    while waiting:
        binding = waiting.pop()
        if binding in bound:
            continue
        bound.append(binding)
        if len(bound) > _MOST or binding.kind is not BindingKind.ASSIGN or binding.path:
            return []
        root = _root_of(binding.value)
        if isinstance(root, ast.Name) and root.id == name.id:
            waiting += model.dataflow.definitions(root)
        elif isinstance(root, ast.Call) and _is_made_on_host(root, model):
            found[root] = None
        else:
            return []
    return list(found)


def _is_made_on_host(call: ast.Call, model: SemanticModel) -> bool:
    name = model.names.qualified(call.func)
    if name is None or any(keyword.arg in ("device", None) for keyword in call.keywords):
        return False
    creates: bool = is_constructor(call, name, model)
    return creates


def _root_of(value: ast.expr | None) -> ast.expr | None:
    """Return the value of which an expression is a view: `x` of `x.unsqueeze(0)` and of `x[None]`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in VIEWS:
                value = owner
            case ast.Subscript(value=owner, slice=index) if is_view(index):
                value = owner
            case _:
                return value
