"""Attributes of unknown type that are arrays after the first concatenation."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, array_growth, models

_OF_CONTAINERS = models.methods_of(TypeTag.LIST) | models.methods_of(TypeTag.DICT)
_OF_CONTAINERS -= models.methods_of(TypeTag.NDARRAY)


def becomes_array(held: ast.expr, model: SemanticModel) -> bool:
    """Whether an attribute of unknown type begins as an empty list, but grows by concatenation of arrays, and
    is never appended to: `self.priorities = np.concatenate((self.priorities, new))`.
    """
    if (
        not isinstance(held, ast.Attribute)
        or not model.names.is_self(held.value)
        or model.types.type_of(held)
    ):
        return False
    grows = False
    for use in model.names.attribute_uses(held.attr):
        parent = model.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend"):
            return False
        if isinstance(use.ctx, ast.Store) and isinstance(parent, ast.Assign):
            grows = grows or array_growth.growth_of(parent, model) is not None
    return grows


def may_be_array(held: ast.Attribute, model: SemanticModel) -> bool:
    """Whether this file does nothing with an attribute that only lists, dicts and deques can do."""
    for use in model.names.attribute_uses(held.attr):
        parent = model.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr in _OF_CONTAINERS:
            return False
        if isinstance(use.ctx, ast.Store) and isinstance(parent, (ast.Assign, ast.AnnAssign)):
            made = parent.value
            if isinstance(made, (ast.Dict, ast.DictComp, ast.ListComp)):
                return False
    return True
