"""Code that only workers of Ray run, to which Ray gives no device."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, SemanticModel

_REMOTE = "ray.remote"
_DEVICES = frozenset({"num_gpus", "resources", "accelerator_type"})
_DEPTH = 6


def runs_without_device(node: ast.AST, model: SemanticModel) -> bool:
    """Whether only tasks and actors of Ray run a node that ask for no device (`@ray.remote`,
    `@ray.remote(num_cpus=1)`): Ray hides all devices from them.
    """
    if _REMOTE not in model.syntax.text or ".options(" in model.syntax.text:
        return False
    function = model.function(node)
    return function is not None and model.once(_is_run_without_device, function)


def _is_run_without_device(function: ast.AST, model: SemanticModel) -> bool:
    open_functions, seen = [function], {function}
    is_worker = False
    while open_functions:
        current = open_functions.pop()
        if _is_remote(current, model):
            is_worker = True
            continue
        if model.frequency.is_called(getattr(current, "body", [current])[0], other_file=True):
            return False
        callers = model.once(_callers_in_file, model.syntax.module).get(current, ())
        if not callers or None in callers:
            return False
        new = [each for each in callers if each is not None and each not in seen]
        seen.update(new)
        open_functions += new
    return is_worker


def _callers_in_file(_: ast.Module, model: SemanticModel) -> dict[ast.AST, list[ast.AST | None]]:
    """Return the functions of this file that call each function of it; None for code at module level."""
    found: dict[ast.AST, list[ast.AST | None]] = {}
    for call in model.syntax.of_type(ast.Call):
        for target in model.types.call_targets(call):
            called = model.types.definition(target)
            if called is not None:
                found.setdefault(called, []).append(model.function(call))
    return found


def _is_remote(function: ast.AST, model: SemanticModel) -> bool:
    """Whether a function, or its class, runs in a worker of Ray without devices."""
    owner = model.class_of(function)
    decorated = (function, owner) if isinstance(function, FUNCTIONS) else ()
    return any(
        _has_no_device(decorator, model)
        for each in decorated
        if each is not None
        for decorator in each.decorator_list
    )


def _has_no_device(decorator: ast.expr, model: SemanticModel) -> bool:
    match decorator:
        case ast.Call(func=called, keywords=words):
            return model.names.qualified(called) == _REMOTE and all(
                word.arg is not None and word.arg not in _DEVICES for word in words
            )
    return model.names.qualified(decorator) == _REMOTE
