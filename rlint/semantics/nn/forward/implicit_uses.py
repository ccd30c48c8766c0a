"""Code of a network and its parts that runs without a call: properties, operators, items and iteration."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rlint.models.value_type import TypeTag
from rlint.syntax.syntax_index import Function

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

OPERATOR = "<operator>"
"""Stands for all special methods that operators, items, iteration and builtins call."""
_MAY_HAVE_CODE = frozenset({TypeTag.UNKNOWN, TypeTag.MODULE, TypeTag.INSTANCE})
_DEPTH = 4


class ImplicitUses:
    """Finds the attributes that the methods of a file read on their object and on its parts, and the parts
    that they use as operands.

    Each use is a path from the object ("" for itself, "graph.encoder") with the attribute, or `OPERATOR`.
    `roots` returns the attributes of the object from which the value of a variable comes.
    """

    def __init__(self, analysis: FileAnalysis, roots: Callable[[ast.expr], set[str] | None]) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._roots = roots
        self._derived = frozenset(cls for cls in self._syntax.of_type(ast.ClassDef) if cls.bases)

    def all(self, enclosing: Callable[[ast.AST], Function | None]) -> Iterator[tuple[Function, str, str]]:
        """Yield the uses, each with the function that it counts to."""
        if not self._derived:
            return  # only classes with bases are networks
        for node, operand, name in self._operands():
            if self._syntax.class_of(node) not in self._derived:
                continue
            paths = self._paths(operand, _DEPTH)
            function = enclosing(node) if paths else None
            if function is not None and function.name != "__init__":
                for path in paths:
                    yield function, path, name

    def _operands(self) -> Iterator[tuple[ast.AST, ast.expr, str]]:
        class_of, is_self = self._syntax.class_of, self._analysis.names.is_self
        stored = {(class_of(store), store.attr) for store in self._syntax.written.attribute_stores}
        for name, reads in self._syntax.written.attributes.items():
            for read in reads:
                if not isinstance(read.ctx, ast.Load) or self._is_called(read):
                    continue
                # what a class stores itself is no property
                if (class_of(read), name) not in stored or not is_self(read.value):
                    yield read, read.value, name
        for call in self._syntax.written.calls_of(("getattr",)):
            match call:
                case ast.Call(func=ast.Name(), args=[owner, ast.Constant(value=str(name)), *_]):
                    yield call, owner, name
        for kind in (ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.AugAssign, ast.Starred):
            for node in self._syntax.of_type(kind):
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        yield node, part, OPERATOR
        for item in self._syntax.of_type(ast.Subscript):
            assert isinstance(item, ast.Subscript)
            yield item, item.value, OPERATOR
        for loop in (*self._syntax.of_type(ast.For), *self._syntax.of_type(ast.comprehension)):
            assert isinstance(loop, (ast.For, ast.comprehension))
            yield loop.iter, loop.iter, OPERATOR
        for test in (*self._syntax.of_type(ast.If), *self._syntax.of_type(ast.While)):
            assert isinstance(test, (ast.If, ast.While))
            yield test, test.test, OPERATOR
        for choice in self._syntax.of_type(ast.IfExp):
            assert isinstance(choice, ast.IfExp)
            yield choice, choice.test, OPERATOR
        for managed in self._syntax.of_type(ast.withitem):
            assert isinstance(managed, ast.withitem)
            yield managed.context_expr, managed.context_expr, OPERATOR
        for call in self._syntax.of_type(ast.Call):
            assert isinstance(call, ast.Call)
            if (self._analysis.names.qualified(call.func) or "").startswith("builtins."):
                for argument in call.args:
                    yield call, argument, OPERATOR

    def _is_called(self, read: ast.Attribute) -> bool:
        parent = self._syntax.parents.get(read)
        return isinstance(parent, ast.Call) and parent.func is read

    def _paths(self, operand: ast.expr, depth: int) -> set[str]:
        """Return the paths to the part of the object that an expression is; empty for all other values."""
        match operand:
            case ast.Name() | ast.Attribute() | ast.Subscript() if depth:
                pass
            case _:
                return set()
        if self._analysis.names.is_self(operand):
            return {""}
        if self._analysis.types.type_of(operand).tag not in _MAY_HAVE_CODE:
            return set()
        match operand:
            case ast.Attribute(value=owner, attr=name):
                return {f"{path}.{name}".lstrip(".") for path in self._paths(owner, depth - 1)}
            case ast.Subscript(value=owner):
                return self._paths(owner, depth - 1)
        return self._roots(operand) or set()
