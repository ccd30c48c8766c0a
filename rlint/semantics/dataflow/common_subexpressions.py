"""Expressions that a function evaluates more than once with the same variables."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.frozen import frozen
from rlint.semantics.dataflow.evaluation_order import EvaluationOrder
from rlint.semantics.dataflow.mutation import Mutations
from rlint.syntax.scopes import Scope
from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import descendants, size_of

_Shape = object
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_COMPARED = (ast.Call, *_COMPREHENSIONS)
_MOST_SCOPES = 20
"""A scope with more nested comprehensions and lambdas than this is generated code; nothing in it is
compared.
"""
_MOST_EQUAL = 100
"""A function with more calls of one name than this is generated code; they are not compared, as every pair
would have to be.
"""


@frozen
class Repetition:
    """`again` are evaluated after `first`, on every path only after it, and give the same value.

    `doubts` are nodes in between that could change the value only indirectly: through an alias, or in a
    function that is not passed what the value depends on.
    """

    first: ast.expr
    again: tuple[ast.expr, ...]
    doubts: tuple[ast.AST, ...]

    @property
    def all(self) -> tuple[ast.expr, ...]:
        """Return all repetitions, in the order of evaluation."""
        return (self.first, *self.again)


class CommonSubexpressions:
    """The repeated calls and comprehensions of one file."""

    def __init__(self, syntax: SyntaxIndex, changes: Mutations, order: EvaluationOrder) -> None:
        self.syntax = syntax
        self._changes = changes
        self._order = order
        self._equal: dict[ast.expr, list[ast.expr]] = {}
        self._too_many: set[ast.expr] = set()
        self._numbers: dict[object, int] = {}
        self._numbered: dict[ast.AST, int] = {}
        self._found: dict[ast.AST, Repetition] = {}
        self._repeated: dict[ast.AST, Repetition] = {}
        self._done: set[ast.AST] = set()

    def equal_to(self, node: ast.expr) -> list[ast.expr]:
        """Return the calls or comprehensions of the same function with the same structure and the same
        variables, in the order of evaluation, including `node`. The names of a comprehension's own variables
        do not matter.
        """
        known = self._equal.get(node)
        if known is None:
            if node not in self.syntax.buried:
                self._compare(self.syntax.scope(node).function)
            known = self._equal.setdefault(node, [node])
        return known

    def is_given_up(self, node: ast.expr) -> bool:
        """Whether an expression occurs too often in its function, or its file is too repetitive, to compare
        it with equal expressions.
        """
        if not isinstance(node, _COMPARED):
            return False
        if not self._changes.gives_up:
            self.equal_to(node)
            return node in self._too_many
        return self.repetition(node) is None and self.repeated(node) is None

    def repetition(self, node: ast.expr) -> Repetition | None:
        """Return the repetition that `node` is the first evaluation of."""
        self._look_at(node)
        return self._found.get(node)

    def repeated(self, node: ast.expr) -> Repetition | None:
        """Return the repetition that `node` is a later evaluation of."""
        self._look_at(node)
        return self._repeated.get(node)

    def _look_at(self, node: ast.expr) -> None:
        if node in self._done:
            return
        group = self.equal_to(node)
        self._done.update(group)
        self._group(group)
        for found in [self._found[first] for first in group if first in self._found]:
            self._repeated.update(dict.fromkeys(found.again, found))

    def _group(self, group: list[ast.expr]) -> None:
        """Assign each expression to the latest first evaluation whose value it surely or very likely
        repeats.
        """
        firsts: list[ast.expr] = []
        for node in group:
            for first in reversed(firsts):
                doubts = self._doubts(first, node)
                if doubts is None:
                    continue
                known = self._found.get(first)
                again = (*known.again, node) if known else (node,)
                every = (*known.doubts, *doubts) if known else doubts
                self._found[first] = Repetition(first, again, tuple(dict.fromkeys(every)))
                break
            else:
                firsts.append(node)

    def _doubts(self, first: ast.expr, second: ast.expr) -> tuple[ast.AST, ...] | None:
        if self._changes.gives_up or not self._order.always_before(first, second):
            return None
        return self._changes.doubts_between(first, first, second)

    def _groups(self, bucket: list[ast.expr]) -> dict[ast.expr, list[ast.expr]]:
        """Return each of some expressions with those that have its shape, itself included."""
        by_shape: dict[_Shape, list[ast.expr]] = {}
        for node in bucket:
            by_shape.setdefault(self._shape(node), []).append(node)
        found: dict[ast.expr, list[ast.expr]] = {}
        for equal in by_shape.values():
            if len(equal) > _MOST_EQUAL:
                found.update((node, [node]) for node in equal)
                self._too_many.update(equal)
                continue
            if len(equal) > 1:
                equal.sort(key=self._order.position)
            found.update(dict.fromkeys(equal, equal))
        return found

    def _compare(self, function: Scope) -> None:
        """Find the calls and comprehensions of one function that have the same structure."""
        for similar in self._by_function.pop(function, ()):
            buckets: dict[tuple[object, ...], list[ast.expr]] = {}
            for node in similar:
                buckets.setdefault(_key(node), []).append(node)
            for bucket in buckets.values():
                if len(bucket) > 1:
                    self._equal.update(self._groups(bucket))

    @cached_property
    def _by_function(self) -> dict[Scope, list[list[ast.expr]]]:
        """Return the calls and comprehensions of the file by the function, lambda or class body that runs
        them, leaving out those without a candidate of the same name and size.
        """
        buried, scope_of = self.syntax.buried, self.syntax.scope
        found: dict[Scope, list[list[ast.expr]]] = {}
        for nodes in (*self.syntax.written.calls.values(), *map(self.syntax.of_type, _COMPREHENSIONS)):
            if len(nodes) < 2:
                continue
            similar: dict[tuple[Scope, int], list[ast.expr]] = {}
            for node in nodes:
                if node not in buried:
                    similar.setdefault((scope_of(node).function, size_of(node)), []).append(node)
            for (function, _), equal in similar.items():
                if len(equal) > 1:
                    found.setdefault(function, []).append(equal)
        return found

    def _shape(self, node: ast.expr) -> _Shape:
        inner = {scope.node for scope in self._scopes_in(node)}
        if len(inner) > _MOST_SCOPES:
            return node
        return self._described(node, inner, {}) if inner else self._number(node)

    def _number(self, node: ast.AST) -> int:
        """Return a number for the structure of an expression without scopes of its own: equal structures have
        equal numbers.
        """
        known = self._numbered.get(node)
        if known is None:
            shape = self._leaf(node)
            if shape is None:
                parts: list[object] = [type(node)]
                for name in node._fields:
                    value = getattr(node, name, None)
                    if isinstance(value, ast.AST):
                        value = self._number(value)
                    elif type(value) is list:
                        value = tuple([self._number(v) if isinstance(v, ast.AST) else v for v in value])
                    parts.append(value)
                shape = tuple(parts)
            known = self._numbered[node] = self._numbers.setdefault(shape, len(self._numbers))
        return known

    def _leaf(self, node: ast.AST) -> tuple[object, ...] | None:
        """Return the key of a name or constant; nodes that are nested too deeply equal no other node."""
        if node in self.syntax.buried:
            return ("buried", node)
        if isinstance(node, ast.Name):
            scope = self.syntax.scope(node).lookup(node.id)
            return (node.id, scope.node if scope is not None else None)
        if isinstance(node, ast.Constant):
            return (type(node.value), repr(node.value))
        return None

    def _scopes_in(self, node: ast.expr) -> list[Scope]:
        return [self.syntax.scopes[child] for child in descendants(node) if child in self.syntax.scopes]

    def _described(
        self, node: ast.AST, inner: set[ast.AST], numbers: dict[tuple[object, str], int]
    ) -> _Shape:
        """Return the structure of an expression; its own variables are numbered, other variables keep their
        identity.
        """
        if isinstance(node, ast.Name):
            scope = self.syntax.scope(node).lookup(node.id)
            if scope is not None and scope.node in inner:
                return ("own", numbers.setdefault((scope.node, node.id), len(numbers)))
        leaf = self._leaf(node)
        if leaf is not None:
            return leaf
        parts: list[object] = [type(node)]
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                parts.append(
                    tuple(
                        self._described(item, inner, numbers) if isinstance(item, ast.AST) else item
                        for item in value
                    )
                )
            else:
                parts.append(self._described(value, inner, numbers) if isinstance(value, ast.AST) else value)
        return tuple(parts)


def _key(node: ast.expr) -> tuple[object, ...]:
    """Return a cheap key that is equal for expressions of equal structure: their sizes."""
    if isinstance(node, ast.Call):
        func = node.func
        owner = _sign(func.value) if isinstance(func, ast.Attribute) else None
        return (_sign(func), owner, *map(_sign, node.args))
    assert isinstance(node, _COMPREHENSIONS)
    return (_sign(node.generators[0].iter),)


def _sign(node: ast.expr) -> object:
    """Return a part of what an expression reads. The names of its own variables are left out, since they may
    differ.
    """
    kind = type(node)
    if kind is ast.Name:
        return node.id  # type: ignore[attr-defined]
    if kind is ast.Attribute:
        return (kind, node.attr)  # type: ignore[attr-defined]
    if kind is ast.Constant:
        return (kind, node.value)  # type: ignore[attr-defined]
    if kind is ast.Call:
        return (kind, _word(node.func))  # type: ignore[attr-defined]
    if kind is ast.Subscript:
        return (kind, _word(node.value))  # type: ignore[attr-defined]
    return kind


def _word(node: ast.expr) -> object:
    """Return the last name of the called or subscripted expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else type(node)
