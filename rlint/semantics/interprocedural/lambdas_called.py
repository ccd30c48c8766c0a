"""Lambdas that the call of a variable runs, also those that callers pass for a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function


def lambdas_called(called: ast.Name, analysis: FileAnalysis) -> Iterator[ast.Lambda]:
    """Yield the lambdas that a variable holds, or that calls in this file pass for it if it is a
    parameter.
    """
    function = analysis.syntax.function(called)
    for binding in analysis.definitions.reaching(called):
        if binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Lambda) and not binding.path:
            yield binding.value
        elif binding.kind is BindingKind.PARAMETER and function is not None:
            yield from _passed(called.id, function, analysis)


def _passed(parameter: str, function: Function, analysis: FileAnalysis) -> Iterator[ast.Lambda]:
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if parameter not in names:
        return
    for call in analysis.syntax.written.calls_of((function.name,)):
        is_bound = isinstance(call.func, ast.Attribute) and analysis.syntax.class_of(function) is not None
        place = names.index(parameter) - is_bound
        value = next((each.value for each in call.keywords if each.arg == parameter), None)
        if value is None and 0 <= place < len(call.args):
            value = call.args[place]
        if isinstance(value, ast.Lambda):
            yield value
        elif isinstance(value, ast.Name):
            for binding in analysis.definitions.reaching(value):
                if isinstance(binding.value, ast.Lambda) and not binding.path:
                    yield binding.value
