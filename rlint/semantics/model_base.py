"""Where things stand in one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint.edit.importer import TopLevel
from rlint.findings import Position
from rlint.semantics.dataflow.evaluation_order import Order
from rlint.semantics.file_analysis import Knowledge
from rlint.semantics.interprocedural.summary import FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.whole_program import Linked
from rlint.syntax.syntax_index import FUNCTIONS, Function


class SiteBase(TopLevel):
    """A file, and what is known of the project around it."""

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(knowledge.tree)
        self.path = path
        self.knowledge = knowledge
        self.index = linked.index
        self._linked = linked
        self._heat = linked.heat
        self.order = Order(self.tree)

    def summary_around(self, node: ast.AST) -> FunctionSummary | None:
        """The summary of the function that runs a node, or of the code at module level."""
        function = self.tree.function(node)
        return self.module.functions.get(self.tree.qualname(function) if function is not None else "")

    @cached_property
    def module(self) -> ModuleSummary:
        """The summary of this file."""
        return self.index.modules[self.knowledge.name]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one."""
        return self.tree.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node's parent, its parent's parent, … up to the module."""
        return self.tree.ancestors(node)

    def function(self, node: ast.AST) -> Function | None:
        """The innermost def that runs a node (lambdas and comprehensions belong to it)."""
        return self.tree.function(node)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method or body holds a node."""
        return self.tree.class_of(node)

    def method(self, cls: ast.ClassDef, name: str) -> Function | None:
        """The method that a class of this file defines itself."""
        for child in cls.body:
            if isinstance(child, FUNCTIONS) and child.name == name:
                return child
        return None

    def span_of(self, node: ast.AST) -> tuple[Position, Position]:
        """The place to underline: the node, or the header of a compound statement."""
        start, end = self.header_span(node)
        return self.tree.positions.position(start), self.tree.positions.position(end)

    def logical_lines(self, node: ast.AST) -> tuple[int, int]:
        """First and last line of the statement around a node, or of its header if it is compound."""
        statement: ast.AST = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            statement = self.tree.parents[statement]
        start, end = self.header_span(statement)
        positions = self.tree.positions
        return positions.position(start).line, positions.position(end).line
