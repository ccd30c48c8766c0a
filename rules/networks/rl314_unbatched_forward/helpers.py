"""Functions of a file that assemble the input of a network for one time step of a batch."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel, descendants

_LEAVES = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)


def takes_step(function: Function, parameter: str) -> bool:
    """Whether a function selects, with a parameter as index, from values of several dimensions: `obs[:,
    t]`.
    """
    for node in descendants(function):
        match node:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), *rest]), ctx=ast.Load()):
                if any(isinstance(index, ast.Name) and index.id == parameter for index in rest):
                    return True
    return False


def leaves_nothing(function: Function, model: SemanticModel) -> bool:
    """Whether a function has no side effects on its arguments: it sets no attribute and no item of a
    parameter, calls no method of `self` or of a parameter, and runs no network.
    """
    arguments = function.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in descendants(function):
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                return False
            case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()):
                if not isinstance(held, ast.Name) or held.id in given:
                    return False
            case ast.Call(func=called):
                while isinstance(called, ast.Attribute):
                    called = called.value
                if isinstance(called, ast.Name) and called.id in given:
                    return False
                if model.gradients.gives_gradient(node):
                    return False
        if isinstance(node, _LEAVES):
            return False
    return True
