"""Parameters that are numbers by their defaults and tests, such as the bounds of a range."""

from __future__ import annotations

import ast

from rlint.syntax.queries import defaults_of
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BRANCHES = (ast.If, ast.While, ast.Assert, ast.IfExp)


def is_optional_number(name: ast.Name, syntax: SyntaxIndex) -> bool:
    """Whether a variable is a parameter that is a number or None by default, that the function orders against
    a number (`if end < 0: end += self.capacity`), and of which it reads no parts.
    """
    scope = syntax.scope(name).lookup(name.id)
    if scope is None or not isinstance(scope.node, FUNCTIONS):
        return False
    match defaults_of(scope.node.args).get(name.id):
        case ast.Constant(value=None | int() | float()):
            pass
        case _:
            return False
    parents = [syntax.parents.get(use) for use in syntax.variables.uses(name.id, scope)]
    if any(isinstance(parent, (ast.Attribute, ast.Subscript, ast.Starred)) for parent in parents):
        return False
    return any(_is_order(parent) and _decides(parent, syntax) for parent in parents)


def _is_order(node: ast.AST | None) -> bool:
    """Whether a node compares with a literal number: `end < 0`."""
    match node:
        case ast.Compare(left=ast.Constant(value=int() | float()), ops=[op]):
            return isinstance(op, _ORDERS)
        case ast.Compare(ops=[op], comparators=[ast.Constant(value=int() | float())]):
            return isinstance(op, _ORDERS)
    return False


def _decides(compared: ast.AST | None, syntax: SyntaxIndex) -> bool:
    """Whether the comparison is the test of a branch, which takes a single truth value."""
    branch = syntax.parents.get(compared) if compared is not None else None
    return isinstance(branch, _BRANCHES) and branch.test is compared
