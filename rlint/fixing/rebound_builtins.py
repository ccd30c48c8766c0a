"""Names of builtins that stand for something else in a file, which rules may take for the builtins."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.trait import Trait
from rlint.semantics.model import SemanticModel
from rlint.syntax.scopes import BindingKind

_COMPUTES = Trait.CARRIES | Trait.ITERATES | Trait.SAME_ITEMS | Trait.OF_NUMBERS | Trait.TO_NUMBER
_ASSUMED = frozenset(
    path.removeprefix("builtins.") for path in models.having(_COMPUTES | Trait.TESTS_CLASS, "builtins")
)
"""Builtins that compute with numbers and containers, or test values: `len`, `range`, `sum`."""
_OF_FUNCTIONS = frozenset({BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.IMPORT})


def rebound_builtins(model: SemanticModel) -> Iterator[ast.Name]:
    """Yield the names of builtins that refer to other functions: `len` where the file defines a `len`, or
    imports all names of a module that has one.
    """
    scopes = model.syntax.scopes.values()
    starred = {module for scope in scopes for module in scope.star_imports}
    bound = _ASSUMED if starred else {name for scope in scopes for name in _ASSUMED & scope.bindings.keys()}
    for name in bound:
        for node in model.syntax.variables.named(name):
            if isinstance(node.ctx, ast.Load) and _is_other_function(node, starred, model):
                yield node


def _is_other_function(name: ast.Name, starred: set[str], model: SemanticModel) -> bool:
    """Whether a name of a builtin refers to another function, or may do so and is called."""
    is_builtin = model.names.qualified(name) == f"builtins.{name.id}"
    scope = model.names.scope(name).lookup(name.id)
    if scope is None:
        return not is_builtin or any(models.callable_fact(f"{module}.{name.id}") for module in starred)
    call = model.parent(name)
    is_called = isinstance(call, ast.Call) and call.func is name
    kinds = {binding.kind for binding in scope.bindings.get(name.id, ())}
    return not is_builtin and (is_called or not kinds.isdisjoint(_OF_FUNCTIONS))
