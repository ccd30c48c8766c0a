"""Parameters that name another file in each call."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, arguments_of, descendants, parameter_of

_DEPTH = 4
_OF_LOOPS = (BindingKind.FOR, BindingKind.COMPREHENSION)


def varies(parameter: ast.Name, model: SemanticModel) -> bool:
    """Whether a call of the same file passes what depends on the variable of a loop around it, or around the
    calls of its function: `is_done(folder / f"{task}.pkl")` in `def check(folder, task)`.
    """
    return model.frequency.takes_loop_items(parameter) or _varies_at_calls(parameter, model, _DEPTH)


def _varies_at_calls(parameter: ast.Name, model: SemanticModel, depth: int) -> bool:
    function = model.function(parameter)
    if function is None or depth <= 0:
        return False
    for call in model.names.calls_by_name.get(function.name, ()):
        given = [
            argument
            for target in model.types.call_targets(call)
            if model.types.definition(target) is function
            for argument in arguments_of(call)
            if parameter_of(argument, call, target) == parameter.id
        ]
        if any(_depends_on_loop(each, model, depth - 1) for each in given):
            return True
    return False


def _depends_on_loop(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether an expression reads a loop variable, also through other variables and parameters."""
    if depth <= 0:
        return False
    return any(
        _name_depends(name, model, depth)
        for name in descendants(value)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    )


def _name_depends(name: ast.Name, model: SemanticModel, depth: int) -> bool:
    for binding in model.dataflow.definitions(name):
        if binding.kind in _OF_LOOPS:
            return True
        if binding.kind is BindingKind.PARAMETER:
            if model.frequency.takes_loop_items(name) or _varies_at_calls(name, model, depth - 1):
                return True
        elif binding.value is not None and _depends_on_loop(binding.value, model, depth - 1):
            return True
    return False
