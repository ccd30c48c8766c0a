"""Indexed values of unknown type that likely are tensors."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, Use, UseKind, models
from rlint.rules.transfers.rl209_index_by_list.list_indices import Counted

_OF_TENSORS = models.methods_of(TypeTag.TENSOR) - models.methods_of(TypeTag.NDARRAY)
_TAKE_TENSORS = models.having(Trait.ELEMENTWISE | Trait.REDUCES | Trait.LIMITS, "torch")


def takes_rows(subscript: ast.Subscript, found: Counted, model: SemanticModel) -> bool:
    """Whether a value of unknown type that takes a range beside another index likely is a tensor: only
    tensors and arrays take both. It is no array if the other index is a tensor, if a method of a network
    returns it, or if torch or a method of tensors computes with the rows.
    """
    if model.types.type_of(subscript.value) or found.is_alone:
        return False
    others = (part for part in found.parts if part is not found.node)
    if any(model.types.type_of(part).tag is TypeTag.TENSOR for part in others):
        return True
    if _is_of_network(subscript.value, model):
        return True
    return any(_computes_with_tensor(use, model) for use in model.dataflow.uses(subscript))


def _computes_with_tensor(use: Use, model: SemanticModel) -> bool:
    if not isinstance(use.at, ast.Call):
        return False
    if use.kind is UseKind.METHOD:
        return isinstance(use.at.func, ast.Attribute) and use.at.func.attr in _OF_TENSORS
    is_given = use.kind is UseKind.ARGUMENT
    return is_given and model.names.qualified(use.at.func) in _TAKE_TENSORS


def _is_of_network(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a method of a network returns a value: `next_values = target.distribution(states)`."""
    made: list[ast.expr | None] = [value]
    if isinstance(value, ast.Name):
        made = [None if each.path else each.value for each in model.dataflow.definitions(value)]
    return bool(made) and all(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and model.types.type_of(each.func.value).tag is TypeTag.MODULE
        for each in made
    )


def is_likely_tensor(node: ast.Subscript, model: SemanticModel) -> bool:
    """Whether a value of unknown type, of whose columns a method of a network takes some, likely is a tensor:
    lists and dicts have no such columns.
    """
    if model.types.type_of(node.value):
        return False
    owner = model.class_of(node)
    summary = model.module.classes.get(model.syntax.qualname(owner)) if owner is not None else None
    is_method = summary is not None and model.index.class_kind(summary).tag is TypeTag.MODULE
    return is_method or is_network_output(node.value, model)


def is_network_output(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type is what a network returns, likely a tensor."""
    if model.types.type_of(value):
        return False
    if not isinstance(value, ast.Name):
        return _runs_network(value, model)
    bound = model.dataflow.definitions(value)
    return bool(bound) and all(not each.path and _runs_network(each.value, model) for each in bound)


def _runs_network(value: ast.expr | None, model: SemanticModel) -> bool:
    if not isinstance(value, ast.Call):
        return False
    is_forward = isinstance(value.func, ast.Attribute) and value.func.attr == "forward"
    return is_forward or bool(model.gradients.gives_gradient(value))
