"""Whether a draw is with replacement, if its argument `replace` is not a constant."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, BindingKind, SemanticModel, defaults_of, is_constant

_DEPTH = 3


def replaces_by_default(replace: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether an argument is true unless a caller decides otherwise: a parameter with the default `True`, an
    attribute that stores one, or a condition of which one alternative is.
    """
    if is_constant(replace, value=True):
        return True
    if not depth:
        return False
    match replace:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(replaces_by_default(value, model, depth - 1) for value in values)
        case ast.Name():
            bindings = model.dataflow.definitions(replace)
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.PARAMETER:
                return False
            function = bindings[0].statement
            return isinstance(function, FUNCTIONS) and is_constant(
                defaults_of(function.args).get(replace.id), value=True
            )
        case ast.Attribute(value=owner, attr=attribute) if model.names.is_self(owner):
            stores = [
                use for use in model.names.attribute_uses(attribute) if not isinstance(use.ctx, ast.Load)
            ]
            here = model.class_of(replace)
            stored = [model.names.assigned(use) for use in stores if model.class_of(use) is here]
            return bool(stored) and all(
                value is not None and replaces_by_default(value, model, depth - 1) for value in stored
            )
    return False
