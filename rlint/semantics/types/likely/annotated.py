"""Types that only an annotation of a parameter gives, which callers may not heed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_DEPTH = 3


def rests_on_annotation(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a part of an expression is an annotated parameter, also by a variable or an attribute of `self`
    that holds it: programs pass old random generators for new ones, for example.
    """
    return any(_rests(node, model, depth) for node in descendants(expression))


def _rests(node: ast.AST, model: SemanticModel, depth: int) -> bool:
    match node:
        case ast.Name(ctx=ast.Load()):
            return _is_annotated(node, model, depth)
        case ast.Attribute(ctx=ast.Load()):
            return _holds_annotated(node, model, depth)
    return False


def _is_annotated(name: ast.Name, model: SemanticModel, depth: int) -> bool:
    for binding in model.dataflow.definitions(name):
        if binding.kind is BindingKind.PARAMETER and getattr(binding.node, "annotation", None) is not None:
            return True
        value = binding.value if binding.kind is BindingKind.ASSIGN and not binding.path else None
        if depth and value is not None and rests_on_annotation(value, model, depth - 1):
            return True
    return False


def _holds_annotated(attribute: ast.Attribute, model: SemanticModel, depth: int) -> bool:
    if not depth or not model.names.is_self(attribute.value):
        return False
    owner = model.class_of(attribute)
    for use in model.names.attribute_uses(attribute.attr):
        if isinstance(use.ctx, ast.Store) and model.class_of(use) is owner:
            statement = model.parent(use)
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            if value is not None and rests_on_annotation(value, model, depth - 1):
                return True
    return False
