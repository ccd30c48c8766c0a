"""Losses that a function is passed, to take a gradient step on each: `update(actor_loss, critic_loss)`."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    FunctionSummary,
    SemanticModel,
    arguments_of,
    parameter_of,
)


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
        passed = passed_for(loss.id, call, summary)
        if len(passed) != 1:
            return []
        found.append((call, passed[0]))
    return found


def passed_for(name: str, call: ast.Call, function: FunctionSummary) -> list[ast.expr]:
    """Return what a call of a function passes for a parameter."""
    return [value for value in arguments_of(call) if parameter_of(value, call, function) == name]
