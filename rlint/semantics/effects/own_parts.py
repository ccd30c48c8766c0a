"""What the network classes of a file do with their own parts: replace them after the construction, or take
them from elsewhere.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_REGISTRIES = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks")
"""The dicts of `torch.nn.Module` that hold its parts and hooks."""
_PARTS = frozenset({TypeTag.MODULE, TypeTag.PARAMETERS})
_MAY_BE_PARTS = _PARTS | {TypeTag.UNKNOWN, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT, TypeTag.ITERATOR}
_ADDS = models.having(Trait.ADDS_PART, TypeTag.MODULE) | {"append", "extend", "insert", "setattr"}
_DEPTH = 6


def names_registries(model: SemanticModel) -> bool:
    """Whether the file names a dict that holds the parts of a module, by an attribute or a string: other code
    may replace parts through it.
    """
    text = model.syntax.text
    if not any(name in text for name in _REGISTRIES):
        return False
    return any(map(model.names.attribute_uses, _REGISTRIES)) or any(
        constant.value in _REGISTRIES for constant in model.syntax.of_type(ast.Constant)
    )


def replaces_own_part(store: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a method of a network, after its construction, may replace a layer or parameter of it:
    `self.head = nn.Linear(…)`.
    """
    if model.types.type_of(store.value).tag is not TypeTag.MODULE or _is_set_up(model.function(store), model):
        return False
    value = getattr(model.parent(store), "value", None)
    kind = model.types.type_of(value) if isinstance(value, ast.expr) else None
    if kind is not None and (is_immutable(kind) or kind.tag is TypeTag.TENSOR):
        return False  # PyTorch refuses to replace a module or a parameter by a tensor
    if kind is not None and kind.tag in _PARTS:
        return True
    # a value of unknown type only replaces a part if the constructor stores one there
    return any(
        model.types.type_of(value).tag in _PARTS
        for other in model.names.attribute_uses(store.attr)
        if isinstance(other.ctx, ast.Store) and other is not store
        if isinstance(value := getattr(model.parent(other), "value", None), ast.expr)
    )


def _is_set_up(function: ast.AST | None, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a method is a constructor, or only called by constructors of the file."""
    if not isinstance(function, ast.FunctionDef):
        return False
    if function.name == "__init__":
        return True
    uses = model.names.attribute_uses(function.name)
    return (
        depth > 0
        and bool(uses)
        and not model.program.is_read_in_other_file(function.name)
        and all(
            (caller := model.function(use)) is not function and _is_set_up(caller, model, depth - 1)
            for use in uses
        )
    )


def takes_existing_parts(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a network class of the file may store a layer that its constructor does not create: one of the
    module, of a class, of a generator or of a container.
    """
    values = [
        getattr(model.parent(store), "value", None)
        for store in model.syntax.written.attribute_stores
        if model.names.is_self(store.value) and model.types.type_of(store.value).tag is TypeTag.MODULE
    ]
    for call in model.syntax.written.calls_of(_ADDS):
        values += call.args
    return any(isinstance(value, ast.expr) and _may_exist(value, model) for value in values)


def _may_exist(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a value may be, or contain, a layer that existed before the expression is evaluated."""
    if depth <= 0:
        return True
    if model.types.type_of(value).tag not in _MAY_BE_PARTS:
        return False
    match value:
        case ast.Name():
            scope, _ = model.analysis.names.bindings(value)
            if scope is not None and scope.parent is None:
                return model.names.qualified(value) is None or _is_variable(value, model)
            return any(
                binding.value is not None and _may_exist(binding.value, model, depth - 1)
                for binding in model.dataflow.definitions(value)
                if binding.kind is not BindingKind.PARAMETER
            )
        case ast.Subscript(value=owner) | ast.Attribute(value=owner):
            return model.names.qualified(value) is None and _may_exist(owner, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=owner)) if model.names.qualified(value.func) is None:
            return not model.names.is_self(owner) and _may_exist(owner, model, depth - 1)
        case ast.Call(func=func):
            if model.names.qualified(func) in ("builtins.next", "builtins.getattr"):
                return True
            given = [*value.args, *(keyword.value for keyword in value.keywords)]
            returned = [
                statement.value
                for target in model.types.call_targets(value)
                if (function := model.analysis.definition(target)) is not None
                for statement in model.syntax.written.returns.get(function, ())
                if statement.value is not None
            ]
            return any(_may_exist(part, model, depth - 1) for part in (*given, *returned))
        case ast.Lambda() | ast.Constant():
            return False
    return any(
        _may_exist(part, model, depth - 1)
        for part in ast.iter_child_nodes(value)
        if isinstance(part, ast.expr)
    )


def _is_variable(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a name of the module is bound by an assignment, not by an import or a definition."""
    _, bindings = model.analysis.names.bindings(name)
    kinds = (BindingKind.IMPORT, BindingKind.FUNCTION, BindingKind.CLASS)
    return any(binding.kind not in kinds for binding in bindings)
