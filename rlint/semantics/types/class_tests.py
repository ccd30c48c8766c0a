"""Narrowing by `isinstance` and `type(x) == C`: the types of variables and attributes where a test holds,
and branches that no tensor reaches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.dataflow.termination import may_fall_through
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.annotations import annotation_kind
from rlint.syntax.queries import deciding_tests
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import descendants

_CHECKS = frozenset({"isinstance", "is_tensor"})
_MAKERS = frozenset({"__init__", "__post_init__", "__new__"})
_TENSORS = frozenset(
    {"torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter", "torch.nn.parameter.Parameter"}
)
_EVERY_TENSOR = frozenset({"torch.Tensor", "torch.autograd.Variable"})


class ClassTests:
    """The tests of one file that narrow the types of variables and attributes."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self._syntax = syntax
        self._names = names
        self._definitions = definitions

    def kind_of(self, place: ast.expr) -> Type:
        """Return the type that a test around or before a variable or attribute implies there; UNKNOWN without
        a test, or if the variable may hold another value by then.
        """
        tested_for = _key(place)
        if tested_for is None or tested_for not in self.places:
            return UNKNOWN
        child: ast.AST = place
        for parent in self._syntax.ancestors(place):
            if isinstance(parent, (*FUNCTIONS, ast.Lambda)) and not isinstance(child, ast.stmt):
                break
            for test, passed in (*deciding_tests(child, parent), *_tests_before(child, parent)):
                proof = self._proof(test, tested_for, passed=passed)
                if proof is not None and self._stays(place, proof):
                    return self._promised(proof)
            if isinstance(parent, FUNCTIONS):
                break
            child = parent
        return UNKNOWN

    def narrows(self, name: str) -> bool:
        """Whether any test narrows a variable of that name."""
        return name in self.places

    @cached_property
    def places(self) -> frozenset[str]:
        """Return the source of the variables and attributes that tests narrow."""
        return frozenset(
            key for call in self._checks if call.args and (key := _key(call.args[0])) is not None
        )

    @cached_property
    def _checks(self) -> list[ast.Call]:
        """Return the calls of `isinstance`, `is_tensor` and, if the result is compared, `type`."""
        written = self._syntax.written
        compared = (
            call
            for call in written.calls.get("type", ())
            if isinstance(call.func, ast.Name) and isinstance(self._syntax.parents.get(call), ast.Compare)
        )
        return [*written.calls_of(_CHECKS), *compared]

    def _proof(self, test: ast.expr, place: str, *, passed: bool) -> ast.expr | None:
        """Return the test by `isinstance`, `is_tensor` or `type(x) == C` that narrows a variable or attribute
        to a class.
        """
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._proof(operand, place, passed=not passed)
            case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is passed:
                found = (self._proof(value, place, passed=passed) for value in values)
                return next(filter(None, found), None)
            case ast.Call(func=requests, args=[tested, *_]) if passed and _key(tested) == place:
                known = self._names.qualified(requests)
                return test if known in ("builtins.isinstance", "torch.is_tensor") else None
            case ast.Compare():
                typed = self._typed(test, passed=passed)
                return test if typed is not None and _key(typed[0]) == place else None
        return None

    def _typed(self, test: ast.Compare, *, passed: bool) -> tuple[ast.expr, ast.expr] | None:
        """Return `x` and `C` of `type(x) == C`, if the test implies that the class of `x` is `C`."""
        match test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type") as asked, args=[tested]),
                ops=[ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot() as operator],
                comparators=[named],
            ) if isinstance(operator, (ast.Eq, ast.Is)) is passed:
                return (tested, named) if self._names.qualified(asked) == "builtins.type" else None
        return None

    def _promised(self, test: ast.expr) -> Type:
        match test:
            case ast.Compare(comparators=[named]) | ast.Call(args=[_, named]):
                pass
            case _:
                return Type(TypeTag.TENSOR)
        kinds = [annotation_kind(part, self._names) for part in _classes(named)]
        kind = kinds[0]
        for other in kinds[1:]:
            kind = kind.joined(other)
        return kind if all(kinds) or len(kinds) == 1 else UNKNOWN

    def _stays(self, place: ast.expr, test: ast.expr) -> bool:
        """Whether a variable or attribute surely holds the same object as at the test."""
        owner = place.value if isinstance(place, ast.Attribute) else place
        if not isinstance(owner, ast.Name) or not self._definitions.keeps(owner, test, place):
            return False
        if owner is place:
            return True
        assert isinstance(place, ast.Attribute)
        parts = self._definitions.between(test, place)
        if parts is None:
            return False
        here = self._syntax.statement(place)
        nodes = [node for part in parts for node in descendants(part)]
        if here is not self._syntax.statement(test):
            nodes += [
                node for node in descendants(here) if isinstance(node, ast.Call) and _ends_before(node, place)
            ]
        if any(_is_store(node, place.attr) for node in nodes):
            return False
        return not self._is_set_later(place.attr) or all(map(self._leaves_attributes, nodes))

    def _is_set_later(self, attribute: str) -> bool:
        """Whether this file sets an attribute of that name outside of constructors."""
        return any(
            getattr(self._syntax.function(store), "name", "") not in _MAKERS
            for store in self._syntax.written.attribute_stores
            if store.attr == attribute
        )

    def _leaves_attributes(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if not isinstance(node, ast.Call):
            return True
        called = self._names.qualified(node.func)
        return (
            called is not None and called != "builtins.setattr" and models.callable_fact(called) is not None
        )

    def exclude_tensor(self, name: ast.Name) -> bool:
        """Whether a test around a variable implies that it is not a tensor there."""
        if name.id not in self._tested:
            return False
        child: ast.AST = name
        for parent in self._syntax.ancestors(name):
            if isinstance(parent, FUNCTIONS):
                return False
            for test, passed in deciding_tests(child, parent):
                if self._says(test, name.id, passed=passed):
                    return True
            child = parent
        return False

    def is_tested(self, name: str) -> bool:
        """Whether any test asks for the class of a variable of that name."""
        return name in self._tested

    def exclude_tensor_after(self, name: ast.Name) -> bool:
        """Whether an earlier test implies that a variable that keeps its value is not a tensor: `if
        torch.is_tensor(x): return`.
        """
        child: ast.AST = name
        for parent in self._syntax.ancestors(name):
            for test, passed in _tests_before(child, parent):
                if self._says(test, name.id, passed=passed) and self._definitions.keeps(name, test, name):
                    return True
            if isinstance(parent, FUNCTIONS):
                return False
            child = parent
        return False

    @cached_property
    def _tested(self) -> frozenset[str]:
        return frozenset(
            call.args[0].id for call in self._checks if call.args and isinstance(call.args[0], ast.Name)
        )

    def _says(self, test: ast.expr, name: str, *, passed: bool) -> bool:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._says(operand, name, passed=not passed)
            case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is passed:
                return any(self._says(value, name, passed=passed) for value in values)
            case ast.Call(func=requests, args=[ast.Name(id=tested), *classes]) if tested == name:
                pass
            case ast.Compare():
                typed = self._typed(test, passed=passed)
                if typed is None or _key(typed[0]) != name:
                    return False
                path = self._names.qualified(typed[1])
                return path is not None and path not in _TENSORS
            case _:
                return False
        match self._names.qualified(requests), classes:
            case "torch.is_tensor", []:
                return not passed
            case "builtins.isinstance", [named]:
                known = [self._names.qualified(part) for part in _classes(named)]
                if not passed:
                    return not _EVERY_TENSOR.isdisjoint(known)
                return all(path is not None and path not in _TENSORS for path in known)
        return False


def _key(place: ast.expr) -> str | None:
    if isinstance(place, ast.Name):
        return place.id
    if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name):
        return f"{place.value.id}.{place.attr}"
    return None


def _is_store(node: ast.AST, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute and not isinstance(node.ctx, ast.Load)


def _ends_before(node: ast.expr, other: ast.expr) -> bool:
    return (node.end_lineno or 0, node.end_col_offset or 0) <= (other.lineno, other.col_offset)


def _tests_before(child: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests that a block has passed before one of its statements: `assert test`, `if test:
    return`.
    """
    if not isinstance(child, ast.stmt):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, ())
        if not isinstance(block, list) or child not in block:
            continue
        for statement in reversed(block[: block.index(child)]):
            match statement:
                case ast.Assert(test=test):
                    yield test, True
                case ast.If(test=test, body=body, orelse=[]) if not may_fall_through(body):
                    yield test, False


def _classes(named: ast.expr) -> list[ast.expr]:
    match named:
        case ast.Tuple(elts=parts):
            return parts
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_classes(left), *_classes(right)]
    return [named]
