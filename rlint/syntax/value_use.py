"""How the value of an expression is used: the one place that derives this from syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from rlint.enums import Enum
from rlint.frozen import frozen


class UseKind(Enum):
    """How the syntax around an expression uses its value."""

    SAME = "same"
    """The parent may have the same value: `a or b`, `a if c else b`, `(x := a)`."""
    BOUND = "bound"
    """It is assigned: to variables, attributes, items, or to several by unpacking."""
    BOUND_AND_SAME = "bound and same"
    """`(x := a)`"""
    ITERATED = "iterated"
    """A loop or comprehension iterates over it; its items are bound."""
    ELEMENT = "element"
    """It is an element of a display, a comprehension or a starred argument: `[a]`, `(a, b)`, `{k: a}`,
    `*a`.
    """
    OPERAND = "operand"
    """A new value is computed from it: `a + b`, `-a`."""
    ADDED = "added"
    """`x += a`"""
    AUGMENTED = "augmented"
    """`a += x`"""
    ATTRIBUTE = "attribute"
    """`a.shape`, also `a.name = value` (see `ctx`)"""
    METHOD = "method"
    """`a.mean()`"""
    ITEM = "item"
    """`a[i]`, also `a[i] = value` (see `ctx`)"""
    INDEX = "index"
    """`x[a]`"""
    ARGUMENT = "argument"
    """It is passed to a call."""
    CALLED = "called"
    """`a(x)`"""
    COMPARED = "compared"
    """It is compared, asserted, raised, or the end of a slice."""
    TESTED = "tested"
    """A condition: `if a:`, `while a:`, `not a`, `x if a else y`, the filter of a comprehension."""
    SHOWN = "shown"
    """`f"{a}"`"""
    RETURNED = "returned"
    DISCARDED = "discarded"
    """It is a statement of its own, or deleted by `del a`."""
    OTHER = "other"
    """It is yielded, awaited, entered, matched, a default, a decorator, an argument of a class …"""


@frozen
class SyntacticUse:
    """One use of the value of `node`, by the expression or statement `at`.

    `at` is the node that uses the value: the call for arguments (keywords, too), methods and callees; the
    attribute or subscript for parts; else the parent.
    """

    kind: UseKind
    node: ast.AST
    at: ast.AST
    part: int | None = None
    """The item of a tuple that is followed; None is the whole value."""


def use_of(node: ast.AST, parents: Mapping[ast.AST, ast.AST], part: int | None = None) -> SyntacticUse:
    """Return how the value of `node` (or one item of it) is used; `node` is an expression or a keyword."""
    parent = parents[node]
    kind = _KINDS.get(type(parent), UseKind.OTHER)
    if not isinstance(kind, UseKind):
        kind = kind(node, parent)
    at = parent
    if kind is UseKind.ATTRIBUTE:
        call = parents[parent]
        if isinstance(call, ast.Call) and call.func is parent:
            kind, at = UseKind.METHOD, call
    elif isinstance(parent, ast.keyword) and parent.arg is not None:
        node, at = parent, parents[parent]
        kind = UseKind.ARGUMENT if isinstance(at, ast.Call) else UseKind.OTHER  # of a class
    return SyntacticUse(kind, node, at, part)


def is_handed_on(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether other code may get the value of a node: it is passed, stored, returned, or in a display."""
    match parents.get(node):
        case ast.Call(func=func):
            return func is not node
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is node
        case ast.keyword() | ast.Return() | ast.Yield() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return True
        case ast.IfExp() | ast.BoolOp() | ast.NamedExpr() | ast.arguments():
            return True
    return False


def _as_value(kind: UseKind, attribute: str) -> Callable[[ast.AST, ast.AST], UseKind]:
    """Return how a parent uses a node that is the given child of it."""
    return lambda node, parent: kind if getattr(parent, attribute) is node else _ELSE[kind]


_ELSE = {
    UseKind.CALLED: UseKind.ARGUMENT,
    UseKind.ITEM: UseKind.INDEX,
    UseKind.AUGMENTED: UseKind.ADDED,
    UseKind.TESTED: UseKind.SAME,
    UseKind.BOUND: UseKind.OTHER,
    UseKind.BOUND_AND_SAME: UseKind.OTHER,
    UseKind.ITERATED: UseKind.OTHER,
}
"""The use of the other children."""


_KINDS: dict[type[ast.AST], UseKind | Callable[[ast.AST, ast.AST], UseKind]] = {
    ast.Attribute: UseKind.ATTRIBUTE,
    ast.Call: _as_value(UseKind.CALLED, "func"),
    ast.keyword: UseKind.ELEMENT,
    ast.Assign: _as_value(UseKind.BOUND, "value"),
    ast.AnnAssign: _as_value(UseKind.BOUND, "value"),
    ast.NamedExpr: _as_value(UseKind.BOUND_AND_SAME, "value"),
    ast.AugAssign: _as_value(UseKind.AUGMENTED, "target"),
    ast.Subscript: _as_value(UseKind.ITEM, "value"),
    ast.BinOp: UseKind.OPERAND,
    ast.UnaryOp: lambda _, parent: (
        UseKind.TESTED if isinstance(getattr(parent, "op", None), ast.Not) else UseKind.OPERAND
    ),
    ast.BoolOp: UseKind.SAME,
    ast.IfExp: _as_value(UseKind.TESTED, "test"),
    ast.Return: UseKind.RETURNED,
    ast.Starred: UseKind.ELEMENT,
    ast.List: UseKind.ELEMENT,
    ast.Tuple: UseKind.ELEMENT,
    ast.Set: UseKind.ELEMENT,
    ast.Dict: UseKind.ELEMENT,
    ast.ListComp: UseKind.ELEMENT,
    ast.SetComp: UseKind.ELEMENT,
    ast.DictComp: UseKind.ELEMENT,
    ast.GeneratorExp: UseKind.ELEMENT,
    ast.Compare: UseKind.COMPARED,
    ast.Assert: UseKind.COMPARED,
    ast.Raise: UseKind.COMPARED,
    ast.Slice: UseKind.COMPARED,
    ast.If: UseKind.TESTED,
    ast.While: UseKind.TESTED,
    ast.FormattedValue: UseKind.SHOWN,
    ast.For: _as_value(UseKind.ITERATED, "iter"),
    ast.AsyncFor: _as_value(UseKind.ITERATED, "iter"),
    ast.comprehension: lambda node, parent: (
        UseKind.ITERATED if getattr(parent, "iter", None) is node else UseKind.TESTED
    ),
    ast.Expr: UseKind.DISCARDED,
    ast.Delete: UseKind.DISCARDED,
}
