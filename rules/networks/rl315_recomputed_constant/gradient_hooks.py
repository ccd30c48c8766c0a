"""Functions that run in each backward pass: the hooks of a weight's gradient, which always has one shape."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel

_REGISTER = "register_hook"


def is_in_gradient_hook(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is in a function that is registered as the hook of a gradient."""
    if _REGISTER not in model.syntax.text:
        return False
    function = model.function(node)
    return function is not None and model.once(_is_registered, function)


def gradient_of(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a name is the gradient that a hook receives."""
    function = model.function(name)
    if function is None or not is_in_gradient_hook(name, model):
        return False
    parameters = function.args.args
    return bool(parameters) and parameters[-1].arg == name.id


def _is_registered(function: Function, model: SemanticModel) -> bool:
    for call in model.syntax.written.calls_of((_REGISTER,)):
        match call:
            case ast.Call(args=[ast.Name(id=name) | ast.Attribute(attr=name)]) if name == function.name:
                return True
    return False
