"""Summaries of lambdas that a variable holds and that read tensors: `to_np = lambda x: x.cpu().numpy()`."""

from __future__ import annotations

import ast

from rlint.models import effect
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.types.device_reads import parameter_read_by_lambda
from rlint.syntax.scopes import Binding, BindingKind, Scope


def name_of_lambda(binding: Binding, scope: Scope) -> str | None:
    """Return the name under which the lambda of an assignment is summarised; None for another binding, or if
    the variable has several.
    """
    if binding.kind is not BindingKind.ASSIGN or binding.path or not isinstance(binding.value, ast.Lambda):
        return None
    if len(scope.bindings.get(binding.name, ())) != 1:
        return None
    return f"{scope.qualname}.{binding.name}" if scope.qualname else binding.name


def reading_lambdas(analysis: FileAnalysis) -> list[FunctionSummary]:
    """Return the summaries of the lambdas of a file that copy the numbers of an argument to the host. Nothing
    else is known about what they do.
    """
    found: list[FunctionSummary] = []
    for function in analysis.syntax.of_type(ast.Lambda):
        parent = analysis.syntax.parents.get(function)
        if not isinstance(parent, (ast.Assign, ast.AnnAssign)):
            continue
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        for target in targets:
            summary = _summary(target, function, analysis) if isinstance(target, ast.Name) else None
            if summary is not None:
                found.append(summary)
    return found


def _summary(target: ast.Name, function: ast.Lambda, analysis: FileAnalysis) -> FunctionSummary | None:
    read = parameter_read_by_lambda(target.id, function)
    scope = analysis.syntax.scope(target).lookup(target.id) if read is not None else None
    if read is None or scope is None:
        return None
    names = [name_of_lambda(binding, scope) for binding in scope.bindings.get(target.id, ())]
    if len(names) != 1 or names[0] is None:
        return None
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    kind = analysis.exported_type(function.body)
    return FunctionSummary(
        analysis.name,
        names[0],
        function.lineno,
        tuple(parameter.arg for parameter in every),
        returns=(kind,) if kind or kind.of else (),
        effect=effect.UNKNOWN,
        gradient_from=("",),
        keeps_gradient=True,
        reads=(read,),
        returns_values=True,
    )
