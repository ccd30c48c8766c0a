"""How often a step of training runs a line."""

from __future__ import annotations

import ast

from rlint.rule import Driver, ProgramScale, SemanticModel


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
