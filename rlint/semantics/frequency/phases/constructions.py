"""Code that runs when an object is created."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.models import vocabulary
from rlint.semantics.frequency.drivers import Driver
from rlint.syntax.syntax_index import Function

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_ANSWERS = frozenset({Driver.MESSAGE})
_ONCE = "it runs once for each object, as only the constructor of its class calls it"


def why_once_per_object(node: ast.AST, model: SemanticModel) -> str | None:
    """Return why a line runs only once for each object, which no training loop creates: it is in the
    constructor, or in a method that only the constructor of the same class calls. A constructor that waits
    for the answers of workers is no training loop.
    """
    function = model.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or model.class_of(node) is None:
        return None
    beat = model.frequency.cadence(node)
    if beat is not None and not (
        beat.drivers <= _ANSWERS and model.frequency.heat_of(function.body[0]).level is Heat.COLD
    ):
        return None
    return _ONCE if model.once(_is_of_construction, function) else None


def _is_of_construction(function: Function, model: SemanticModel) -> bool:
    if function.name in vocabulary.CONSTRUCTORS:
        return True
    if model.frequency.is_called(function.body[0], other_file=True):
        return False
    users = [model.function(use) for use in model.names.attribute_uses(function.name)]
    owner = model.class_of(function.body[0])
    return bool(users) and all(
        isinstance(user, (ast.FunctionDef, ast.AsyncFunctionDef))
        and user.name in vocabulary.CONSTRUCTORS
        and model.class_of(user.body[0]) is owner
        for user in users
    )
