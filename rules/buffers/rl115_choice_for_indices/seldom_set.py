"""Probabilities that are set less often than numbers are drawn by them."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, EscapeLevel, Heat, SemanticModel, TypeTag, descendants

_PURE = ("numpy.", "builtins.")


def source_of(p: ast.expr, model: SemanticModel) -> ast.Attribute | None:
    """Return the attribute of `self` that determines the probabilities, alone or normalised (`self.weights /
    np.sum(self.weights)`), if no hot code sets or changes it.
    """
    value: ast.expr | None = p
    if isinstance(p, ast.Name):
        bindings = model.dataflow.definitions(p)
        simple = len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not bindings[0].path
        value = bindings[0].value if simple else None
    attributes = _attributes_in(value, model) if value is not None else []
    if len({attribute.attr for attribute in attributes}) != 1 or not _is_seldom_set(attributes[0], model):
        return None
    return attributes[0]


def _attributes_in(value: ast.expr, model: SemanticModel) -> list[ast.Attribute]:
    """Return the attributes of `self` that an expression reads; empty if it also reads anything else."""
    found: list[ast.Attribute] = []
    for node in descendants(value):
        match node:
            case ast.Attribute(value=owner) if model.names.is_self(owner):
                found.append(node)
            case ast.Call(func=func):
                if not (model.names.qualified(func) or "").startswith(_PURE):
                    return []
            case ast.Name() if model.names.qualified(node) is None and not model.names.is_self(node):
                return []
    return found


def _is_seldom_set(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether methods that the program calls set an attribute, and none of them is hot."""
    if model.types.type_of(attribute).tag is TypeTag.TENSOR:
        return False
    is_set = False
    for use in model.names.attribute_uses(attribute.attr):
        function = model.function(use)
        if isinstance(use.ctx, ast.Load) and not _is_written_to(use, model):
            if model.dataflow.use_of(use).escape_level > EscapeLevel.HANDED:
                return False
        elif function is None or function.name != "__init__":
            if model.frequency.heat_of(use).level is Heat.HOT or not model.frequency.is_called(use):
                return False
            is_set = True
    return is_set


def _is_written_to(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether an item is stored: `self.priorities[index] = value`."""
    parent = model.parent(use)
    return isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
