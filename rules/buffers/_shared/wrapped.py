"""Lists and deques behind objects of the project that pass an index on to them."""

from __future__ import annotations

import ast

from rlint.rule import ClassSummary, FunctionSummary, SemanticModel, Type, TypeTag

_ITEM = "[?]"
"""The end of the access path of an item at any index."""


def container_of(held: ast.expr, model: SemanticModel) -> Type:
    """Return the type of a container; for an object whose `__getitem__` returns an item of a list or deque in
    one of its attributes, the type of that one.
    """
    kind = model.types.type_of(held)
    if kind.tag is not TypeTag.INSTANCE:
        return kind
    return model.once(_wrapped, held) or kind


def looked_up(call: ast.Call, model: SemanticModel) -> Type | None:
    """Return the type of the list or deque of which a method of another object returns an item:
    `storage.get(index)`.
    """
    targets = model.types.call_targets(call)
    return _list_read_by(targets[0], model) if len(targets) == 1 else None


def _wrapped(held: ast.expr, model: SemanticModel) -> Type | None:
    cls = model.types.class_of_value(held)
    method = model.index.method(cls, "__getitem__") if cls is not None else None
    if cls is None or method is None or _is_sum_tree(cls, model):
        return None
    return _list_read_by(method, model)


def _is_sum_tree(cls: ClassSummary, model: SemanticModel) -> bool:
    """Whether the items of an object are the priorities in a sum tree."""
    methods = (model.index.method(cls, name) for name in ("__setitem__", *cls.methods))
    return any(
        method is not None and (method.walks_up is not None or method.walks_down is not None)
        for method in methods
    )


def _list_read_by(method: FunctionSummary, model: SemanticModel) -> Type | None:
    for returned in method.returns:
        if not returned and returned.of.endswith(_ITEM):
            inner = model.index.resolve(returned.of.removesuffix(_ITEM), method.module)
            if inner.tag in (TypeTag.LIST, TypeTag.DEQUE):
                return inner
    return None


def wraps_list(made: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression creates an object that passes an index on to a list or deque."""
    if not isinstance(made, ast.Call) or model.types.type_of(made).tag is not TypeTag.INSTANCE:
        return False
    return model.once(_wrapped, made) is not None
