"""Tensors whose rows hold several numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, Trait, models

_FILLS = models.having(Trait.ALLOCATES | Trait.DRAWS_SHAPE, "torch")
_DEPTH = 3


def has_wide_rows(tensor: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether one of the values that a variable or attribute may have is created with several dimensions, of
    which the last has more than one element: `torch.zeros(n, 9)`.
    """
    if isinstance(tensor, ast.Call):
        return model.names.qualified(tensor.func) in _FILLS and _is_wide(tensor)
    return depth > 0 and any(has_wide_rows(value, model, depth - 1) for value in _values(tensor, model))


def _values(tensor: ast.expr, model: SemanticModel) -> Iterator[ast.expr]:
    match tensor:
        case ast.Name():
            for binding in model.dataflow.definitions(tensor):
                if binding.value is not None and not binding.path:
                    yield binding.value
        case ast.Attribute(value=owner, attr=name) if model.names.is_self(owner):
            for use in model.names.attribute_uses(name):
                store = model.parent(use)
                if isinstance(store, ast.Assign) and use in store.targets and model.names.is_self(use.value):
                    yield store.value


def _is_wide(call: ast.Call) -> bool:
    shape = call.args
    match shape:
        case [ast.Tuple(elts=elements) | ast.List(elts=elements), *_]:
            shape = elements
    match shape:
        case [_, *_, ast.Constant(value=int() as last)]:
            return last > 1
    return False
