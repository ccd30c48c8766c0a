"""Losses that a function is passed, to take a gradient step on each: `update(actor_loss, critic_loss)`."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, parameter_of


def losses_handed(
    backward: ast.Call, loss: ast.expr, model: SemanticModel
) -> list[tuple[ast.Call, ast.expr]]:
    """Return the calls that pass a loss to the function which differentiates it, each with the loss; empty if
    the loss is no parameter, or code that is not in this file may call the function.
    """
    function, summary = model.function(backward), model.symbols.function_at(backward)
    if function is None or summary is None or not isinstance(loss, ast.Name):
        return []
    bindings = model.dataflow.definitions(loss)
    if [(each.kind, each.name) for each in bindings] != [(BindingKind.PARAMETER, loss.id)]:
        return []
    found: list[tuple[ast.Call, ast.expr]] = []
    calls = [
        call
        for call in model.names.calls_by_name.get(function.name, [])
        if summary in model.types.call_targets(call)
    ]
    if len(calls) != len(model.dataflow.calls_of(summary)):
        return []
    for call in calls:
        passed = [
            value
            for value in (*call.args, *(keyword.value for keyword in call.keywords))
            if parameter_of(value, call, summary) == loss.id
        ]
        if len(passed) != 1:
            return []
        found.append((call, passed[0]))
    return found
