"""Symbols of one file in the project index: its module, and the functions and classes around a node."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary


class FileSymbols:
    """Finds the summaries for places of one file."""

    def __init__(self, analysis: FileAnalysis, index: ProjectIndex) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._index = index

    @cached_property
    def module(self) -> ModuleSummary:
        """Return the summary of this file."""
        return self._index.modules[self._analysis.name]

    def function_at(self, node: ast.AST) -> FunctionSummary | None:
        """Return the summary of the function that runs a node, or of the module-level code."""
        function = self._syntax.function(node)
        return self.module.functions.get(self._syntax.qualname(function) if function is not None else "")

    def class_at(self, node: ast.AST) -> ClassSummary | None:
        """Return the summary of the class whose method or body contains a node."""
        owner = self._syntax.class_of(node)
        return self.module.classes.get(self._syntax.qualname(owner)) if owner is not None else None
