"""What the network classes of a file do with their own parts: replace them after the construction, or take
them from elsewhere.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.effects.stored_parts import REGISTRIES
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import ModuleSummary
    from rlint.semantics.model import SemanticModel

_PARTS = frozenset({TypeTag.MODULE, TypeTag.PARAMETERS})
_MAY_BE_PARTS = _PARTS | {TypeTag.UNKNOWN, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT, TypeTag.ITERATOR}
_ADDS = models.having(Trait.ADDS_PART, TypeTag.MODULE) | {"append", "extend", "insert", "setattr"}
_REPARAMETRIZES = models.having(
    Trait.ADDS_PART,
    "torch.nn.utils",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
)
"""Functions that replace a parameter of an existing module by other parameters, or the other way round."""
_REPARAMETRIZES_BY = (*_REPARAMETRIZES, "torch.nn.utils.parametri", "torch.nn.utils.prune")
_THEIR_NAMES = frozenset(path.rpartition(".")[2] for path in _REPARAMETRIZES) - {"identity", "remove"}
_IN_THEIR_NAMES = ("norm", "prune", "parametri", "orthogonal")
"""Parts of their names. Every file that uses one of the functions contains one of them."""
_DEPTH = 6


def names_registries(model: SemanticModel) -> bool:
    """Whether the file names a dict that holds the parts of a module, by an attribute or a string: other code
    may replace parts through it.
    """
    text = model.syntax.text
    if not any(name in text for name in REGISTRIES):
        return False
    return any(map(model.names.attribute_uses, REGISTRIES)) or any(
        constant.value in REGISTRIES for constant in model.syntax.of_type(ast.Constant)
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
                return model.names.qualified(value) is None or is_variable(value, model)
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


def is_variable(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a name is bound by an assignment, not by an import or a definition."""
    kinds = (BindingKind.IMPORT, BindingKind.FUNCTION, BindingKind.CLASS)
    return any(binding.kind not in kinds for binding in model.names.bindings(name))


def reparametrizes_a_network(_: ast.Module, model: SemanticModel) -> bool:
    """Whether the file may replace parameters of a finished network by others (`weight_norm(net[0])`, also by
    `net.apply(weight_norm)`), or a file that imports it may. Other files only create layers with them.
    """
    text = model.syntax.text
    if any(word in text for word in _IN_THEIR_NAMES):
        nodes = (*model.syntax.of_type(ast.Name), *model.syntax.of_type(ast.Attribute))
        for node in nodes:
            assert isinstance(node, (ast.Name, ast.Attribute))
            is_named = models.canonical(model.names.qualified(node) or "") in _REPARAMETRIZES
            if is_named and not _builds_a_layer(node, model):
                return True
    own = model.module.module.rpartition(".")[2]
    return any(
        any(own in path.split(".") for path in module.imports.values()) and _names_them(module)
        for module in model.index.modules.values()
        if module is not model.module
    )


def _names_them(module: ModuleSummary) -> bool:
    """Whether another file imports or reads one of the functions that replace parameters."""
    imported = map(models.canonical, module.imports.values())
    return not _THEIR_NAMES.isdisjoint(module.attributes_read) or any(
        path.startswith(_REPARAMETRIZES_BY) for path in imported
    )


def _builds_a_layer(function: ast.expr, model: SemanticModel) -> bool:
    """Whether a function is called for a layer created in the same expression, or for a layer of its own by
    the constructor of a network.
    """
    match model.parent(function):
        case ast.Call(func=called, args=[layer, *_]) if called is function:
            if isinstance(layer, ast.Call) and model.names.qualified(layer.func) is not None:
                return model.names.qualified(layer.func) != "copy.deepcopy"
            while isinstance(layer, (ast.Attribute, ast.Subscript)):
                layer = layer.value
            return model.names.is_self(layer) and is_in_constructor(function, model)
    return False


def is_in_constructor(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node belongs to the constructor of a network class."""
    function = model.function(node)
    owner = model.symbols.class_at(node)
    is_constructor = isinstance(function, ast.FunctionDef) and function.name == "__init__"
    return is_constructor and owner is not None and model.index.class_kind(owner).tag is TypeTag.MODULE
