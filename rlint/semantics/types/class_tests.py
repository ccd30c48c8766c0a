"""Branches that no tensor reaches: after `isinstance(x, list)`, or where `isinstance(x, Tensor)` is false."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

_ASKS = frozenset({"isinstance", "is_tensor"})
_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"})


class ClassTests:
    """The tests of one file that tell apart the classes of variables."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames) -> None:
        self._syntax = syntax
        self._names = names

    def exclude_tensor(self, name: ast.Name) -> bool:
        """Whether a test around a variable says that it is no tensor there."""
        if name.id not in self._tested:
            return False
        child: ast.AST = name
        for parent in self._syntax.ancestors(name):
            if isinstance(parent, FUNCTIONS):
                return False
            for test, passed in _tests(child, parent):
                if self._says(test, name.id, passed=passed):
                    return True
            child = parent
        return False

    @cached_property
    def _tested(self) -> frozenset[str]:
        return frozenset(
            call.args[0].id
            for call in self._syntax.written.calls_of(_ASKS)
            if call.args and isinstance(call.args[0], ast.Name)
        )

    def _says(self, test: ast.expr, name: str, *, passed: bool) -> bool:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._says(operand, name, passed=not passed)
            case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is passed:
                return any(self._says(value, name, passed=passed) for value in values)
            case ast.Call(func=asks, args=[ast.Name(id=asked), *classes]) if asked == name:
                pass
            case _:
                return False
        match self._names.qualified(asks), classes:
            case "torch.is_tensor", []:
                return not passed
            case "builtins.isinstance", [named]:
                known = [self._names.qualified(part) for part in _classes(named)]
                if not passed:
                    return "torch.Tensor" in known
                return all(path is not None and path not in _TENSORS for path in known)
        return False


def _classes(named: ast.expr) -> list[ast.expr]:
    match named:
        case ast.Tuple(elts=parts):
            return parts
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_classes(left), *_classes(right)]
    return [named]


def _tests(child: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests that decide whether a part of a statement or expression is reached, and how they
    end.
    """
    if isinstance(parent, ast.If) and child is not parent.test:
        yield parent.test, child in parent.body
    elif isinstance(parent, ast.IfExp) and child is not parent.test:
        yield parent.test, child is parent.body
    elif isinstance(parent, ast.BoolOp):
        for value in parent.values:
            if value is child:
                return
            yield value, isinstance(parent.op, ast.And)
