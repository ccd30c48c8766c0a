"""What the calls of a function pass to one of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import BindingKind, CallEdge, SemanticModel


def calls_passing(parameter: ast.Name, model: SemanticModel) -> tuple[tuple[str, str], Sequence[CallEdge]]:
    """Return the name and the position by which calls pass a parameter, and the calls of its function; none
    if the variable may hold another value.
    """
    kinds = [each.kind for each in model.dataflow.definitions(parameter)]
    function = model.function(parameter) if kinds == [BindingKind.PARAMETER] else None
    summary = model.module.functions.get(model.syntax.qualname(function)) if function is not None else None
    if summary is None or parameter.id not in summary.call_parameters:
        return ("", ""), ()
    place = str(summary.call_parameters.index(parameter.id))
    return (parameter.id, place), model.dataflow.calls_of(summary)
