"""Counter attributes: set to a number, and from then on only to values computed from themselves."""

from __future__ import annotations

import ast

from rlint.semantics.interprocedural.qualified_names import QualifiedNames

_LIMITS = ("builtins.min", "builtins.max")


def follows_from_itself(attribute: ast.Attribute, value: ast.expr, names: QualifiedNames) -> bool:
    """Whether an attribute is set to its own value plus an integer, possibly wrapped or clamped:
    `self.position = (self.position + 1) % self.capacity`.

    Such an attribute keeps its type, whatever the other operands are.
    """
    match value:
        case ast.Attribute():
            return ast.unparse(value) == ast.unparse(attribute)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_whole(right, names) and follows_from_itself(attribute, left, names)
        case ast.BinOp(left=left, op=ast.Mod()):
            return follows_from_itself(attribute, left, names)
        case ast.Call(func=func, args=[_, _, *_] as parts, keywords=[]) if names.qualified(func) in _LIMITS:
            return any(follows_from_itself(attribute, part, names) for part in parts)
    return False


def _is_whole(expression: ast.expr, names: QualifiedNames) -> bool:
    match expression:
        case ast.Constant(value=int()):
            return True
        case ast.Call(func=func, args=[_], keywords=[]):
            return names.qualified(func) == "builtins.len"
    return False
