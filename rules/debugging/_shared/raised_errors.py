"""Whether evaluating a copy of weights may raise an error, which disappears with the copy."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import BindingKind, SemanticModel, Trait, TypeTag, models

_OF_ANY_TENSOR = models.having(Trait.SAME_VALUES | Trait.COPIES | Trait.CASTS, TypeTag.TENSOR) | (
    {"cpu", "flatten", "ravel", "squeeze"} | {"t", "tolist"}
)
"""Tensor methods that never fail without arguments. `t` takes up to two dimensions."""
_OF_ANY_NETWORK = frozenset({"parameters", "named_parameters", "state_dict"})
_OF_ANY_MAPPING = frozenset({"items", "keys", "values"})
_WITH_WEIGHT = models.having(Trait.HAS_WEIGHT, "torch.nn")
"""Layers that always have a `weight`; their `bias` may be None."""
_TAKE_ANYTHING = frozenset({"torch.clone", "builtins.list", "builtins.tuple"})


def may_raise(node: ast.AST, are_weights: Callable[[ast.expr], bool], model: SemanticModel) -> bool:
    """Whether an expression, without its parts, may raise an error. `are_weights` says whether a variable is
    bound to the parameters, or the items of the state, of a possible network.
    """
    match node:
        case ast.Attribute(value=owner, attr=name):
            if model.names.qualified(node) is not None or model.syntax.call_of(node) is not None:
                return False  # the call is examined
            return not _has(owner, name, model)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[], keywords=[]) if (
            model.names.qualified(node.func) is None
        ):
            return not _takes(owner, method, are_weights, model)
        case ast.Call(func=func, args=[_], keywords=[]):
            return model.names.qualified(func) not in _TAKE_ANYTHING
        case ast.Call() | ast.Subscript() | ast.BinOp() | ast.Compare():
            return True
        case ast.comprehension(iter=iterated, ifs=ifs):
            return bool(ifs) or not _gives_tensors(iterated, model)
        case ast.Name(ctx=ast.Load()):
            return any(
                binding.kind is BindingKind.ASSIGN and binding.path
                for binding in model.dataflow.definitions(node)
            )
    return False


def _has(owner: ast.expr, name: str, model: SemanticModel) -> bool:
    kind = model.types.type_of(owner)
    if kind.optional:
        return False
    if kind.tag is TypeTag.TENSOR:
        return name in ("data", "grad")
    if kind.tag is TypeTag.MODULE and kind.of in _WITH_WEIGHT:
        return name == "weight"
    found = model.types.type_of(_attribute(owner, name, model))
    return (
        kind.tag in (TypeTag.MODULE, TypeTag.INSTANCE) and found.tag is TypeTag.MODULE and not found.optional
    )


def _attribute(owner: ast.expr, name: str, model: SemanticModel) -> ast.expr:
    around = model.parent(owner)
    assert isinstance(around, ast.Attribute)
    assert around.attr == name
    return around


def _takes(
    owner: ast.expr, method: str, are_weights: Callable[[ast.expr], bool], model: SemanticModel
) -> bool:
    kind = model.types.type_of(owner)
    if kind.optional:
        return False
    if kind.tag is TypeTag.TENSOR or (not kind and _is_tensor(owner, are_weights)):
        return method in _OF_ANY_TENSOR and (method != "t" or (kind.rank or 3) < 3)
    if kind.tag is TypeTag.MODULE:
        return method in _OF_ANY_NETWORK
    return kind.tag is TypeTag.STATE_DICT and method in _OF_ANY_MAPPING


def _is_tensor(value: ast.expr, are_weights: Callable[[ast.expr], bool]) -> bool:
    """Whether a value is a parameter, or the result of methods on one that are examined separately."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return isinstance(value, ast.Name) and are_weights(value)


def _gives_tensors(iterated: ast.expr, model: SemanticModel) -> bool:
    """Whether all iterated items are parameters, or the tensors of a state dict."""
    if model.types.type_of(iterated).tag is TypeTag.PARAMETERS:
        return True
    match iterated:
        case ast.Call(func=ast.Attribute(value=owner, attr="named_parameters"), args=[], keywords=[]):
            return model.types.type_of(owner).tag is TypeTag.MODULE
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]) if method in _OF_ANY_MAPPING:
            # extra state of a module need not be a tensor
            is_state = model.types.type_of(owner).tag is TypeTag.STATE_DICT
            return is_state and not model.index.defines_method("get_extra_state")
    return False
