"""Functions that take one row and make a batch of it: `self.net(state.unsqueeze(0))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.semantics.types.one_row_batches import only_row
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_DEPTH = 6


def parameters_made_rows(analysis: FileAnalysis) -> dict[str, tuple[str, ...]]:
    """Return the parameters that each function of a file makes a batch of one of, by the function's qualified
    name.
    """
    syntax = analysis.syntax
    if "torch" not in syntax.text:
        return {}
    found: dict[str, set[str]] = {}
    for node in (*syntax.of_type(ast.Call), *syntax.of_type(ast.Subscript)):
        row = only_row(node, analysis)
        function = syntax.function(node) if row is not None else None
        if row is None or function is None:
            continue
        parameters = set(_parameters_in(row, function, analysis, _DEPTH))
        if parameters:
            found.setdefault(syntax.qualname(function), set()).update(parameters)
    return {name: tuple(sorted(parameters)) for name, parameters in found.items()}


def _parameters_in(value: ast.expr, function: Function, analysis: FileAnalysis, depth: int) -> Iterator[str]:
    """Yield the parameters of a function from which a value is computed."""
    for node in descendants(value):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if analysis.names.is_self(node):
            continue
        for binding in analysis.definitions.reaching(node):
            if binding.kind is BindingKind.PARAMETER and binding.statement is function:
                yield binding.name
            elif binding.kind is BindingKind.ASSIGN and binding.value is not None and depth > 0:
                yield from _parameters_in(binding.value, function, analysis, depth - 1)
