"""Copies of values of unknown type that are used as only tensors are."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, last_name, models, vocabulary

_JOINS = models.having(Trait.JOINS, "torch")
_RELOCATES = models.having(Trait.RELOCATES, TypeTag.TENSOR)
_STORES = models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.LIST, TypeTag.DEQUE)


def is_likely_tensor(copy: ast.Call, value: ast.expr, model: SemanticModel) -> bool:
    """Whether the copy is moved to a device and its rows are stored in a list, or it is joined with others:
    `rows += copy.deepcopy(inputs).to("cpu")`. A network would be moved, too, but not stored like that.
    """
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    name = (last_name(value) or "").lower()
    if any(word in vocabulary.NETWORKS for word in name.split("_")):
        return False
    moved = model.syntax.method_call(copy)
    return moved is not None and last_name(moved.func) in _RELOCATES and _is_kept_as_rows(moved, model)


def _is_kept_as_rows(value: ast.expr, model: SemanticModel) -> bool:
    match model.parent(value):
        case ast.AugAssign(target=target, op=ast.Add(), value=added) if added is value:
            kind = model.types.type_of(target)
            return kind.tag is TypeTag.LIST or isinstance(target, ast.Subscript)
        case ast.Call(func=ast.Attribute(attr=method), args=[given]) if given is value and method in _STORES:
            return True
        case ast.List() as parts:
            call = model.parent(parts)
            return isinstance(call, ast.Call) and model.names.qualified(call.func) in _JOINS
    return False
