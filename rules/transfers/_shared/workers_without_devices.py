"""Code that only workers of Ray run, to which Ray gives no device."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Function, SemanticModel, calls_in_file

_RAY = "ray"
_REMOTE = "ray.remote"
_OPTIONS = "options"
_DEVICES = frozenset({"num_gpus", "resources", "accelerator_type"})


def runs_without_device(node: ast.AST, model: SemanticModel) -> bool:
    """Whether only tasks and actors of Ray run a node that ask for no device (`@ray.remote`,
    `@ray.remote(num_cpus=1)`): Ray hides all devices from them.
    """
    if _REMOTE not in model.syntax.text or ".options(" in model.syntax.text:
        return False
    function = model.function(node)
    return isinstance(function, FUNCTIONS) and model.once(_is_run_without_device, function)


def _is_run_without_device(function: Function, model: SemanticModel) -> bool:
    open_functions, seen = [function], {function}
    is_worker = False
    while open_functions:
        current = open_functions.pop()
        if _is_remote(current, model):
            is_worker = True
            continue
        callers = [model.function(call) for call in calls_in_file(current, model)]
        known = [each for each in callers if isinstance(each, FUNCTIONS)]
        if not known or len(known) < len(callers):
            return False
        open_functions += [each for each in known if each not in seen]
        seen.update(known)
    return is_worker


def _is_remote(function: Function, model: SemanticModel) -> bool:
    """Whether a function, or its class, runs in a worker of Ray without devices."""
    return any(
        _has_no_device(decorator, model)
        for each in (function, model.class_of(function.body[0]))
        if each is not None and not _is_given_options(each.name, model)
        for decorator in each.decorator_list
    )


def _is_given_options(name: str, model: SemanticModel) -> bool:
    """Whether a file that imports a task or actor starts workers of Ray with options, which may ask for
    devices: `Learner.options(num_gpus=1).remote(…)`.
    """
    return any(
        _OPTIONS in file.attributes_only_called
        and _RAY in file.packages
        and any(path.rpartition(".")[2] == name for path in file.imports.values())
        for file in model.index.modules.values()
    )


def _has_no_device(decorator: ast.expr, model: SemanticModel) -> bool:
    match decorator:
        case ast.Call(func=called, keywords=words):
            return model.names.qualified(called) == _REMOTE and all(
                word.arg is not None and word.arg not in _DEVICES for word in words
            )
    return model.names.qualified(decorator) == _REMOTE
