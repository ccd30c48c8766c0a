"""How often a step of training runs a line."""

from __future__ import annotations

import ast

from rlint.rule import Driver, Function, ProgramScale, SemanticModel

_CONSTRUCTORS = frozenset({"__init__", "__post_init__"})
_ONCE = "it runs once for each object, as only the constructor of its class calls it"


def is_repeated(node: ast.AST, model: SemanticModel) -> bool:
    """Whether an inner loop of the function runs a node several times in one step of the training loop."""
    loops = model.frequency.loops(node)
    return bool(loops) and loops[0] is not model.frequency.driving_loop(node)


def is_in_gradient_steps(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the training loop around a node takes a gradient step in each iteration."""
    cadence = model.frequency.cadence(node)
    return cadence is not None and Driver.GRADIENT_STEP in cadence.drivers


def is_in_environment_steps(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the loop around a node steps an environment in each iteration."""
    cadence = model.frequency.cadence(node)
    return cadence is not None and Driver.ENVIRONMENT_STEP in cadence.drivers


def is_only_in_environment_steps(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the loop around a node does nothing else: what a node copies there is mostly one observation
    at a time.
    """
    cadence = model.frequency.cadence(node)
    return cadence is not None and cadence.only_steps_environment


def is_in_layer(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is part of the forward pass of a module, of which a network may have many."""
    function = model.function(node)
    return function is not None and function.name == "forward" and model.class_of(node) is not None


def is_in_long_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs with gradient steps, in a program of networks for images or sequences."""
    return model.program.scale() is ProgramScale.LARGE and is_in_gradient_steps(node, model)


def why_once_per_object(node: ast.AST, model: SemanticModel) -> str | None:
    """Return why a line runs only once for each object, which no training loop creates: it is in the
    constructor, or in a method that only the constructor of the same class calls.
    """
    function = model.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or model.class_of(node) is None:
        return None
    if model.frequency.cadence(node) is not None or not model.once(_is_of_construction, function):
        return None
    return _ONCE


def _is_of_construction(function: Function, model: SemanticModel) -> bool:
    if function.name in _CONSTRUCTORS:
        return True
    if model.frequency.is_called(function.body[0], other_file=True):
        return False
    users = [model.function(use) for use in model.names.attribute_uses(function.name)]
    owner = model.class_of(function.body[0])
    return bool(users) and all(
        isinstance(user, (ast.FunctionDef, ast.AsyncFunctionDef))
        and user.name in _CONSTRUCTORS
        and model.class_of(user.body[0]) is owner
        for user in users
    )
