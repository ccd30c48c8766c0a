"""The places that name the variables of a file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.syntax.scopes import Binding, Scope

if TYPE_CHECKING:
    from rlint.syntax.syntax_index import SyntaxIndex


class Variables:
    """The places that name each variable of a file. Searching all places of a name, which thousands of
    functions may use, for those of one variable would take quadratic time.
    """

    def __init__(self, tree: SyntaxIndex) -> None:
        self._tree = tree
        self._by_scope: dict[str, dict[Scope | None, list[ast.Name]]] = {}

    @property
    def names(self) -> Collection[str]:
        """Return all names in the file, whichever variables they are."""
        return self._by_name.keys()

    def named(self, name: str) -> list[ast.Name]:
        """Return all nodes of this name, for any variable, in source order."""
        return self._by_name.get(name, [])

    def uses(self, name: str, scope: Scope | None) -> list[ast.Name]:
        """Return the nodes that read, bind or delete the variable `name` of `scope` (None: a builtin), nested
        functions included, in source order.
        """
        found = self._by_scope.get(name)
        if found is None:
            found = self._by_scope[name] = {}
            for node in self.named(name):
                found.setdefault(self._tree.scope(node).lookup(name), []).append(node)
        return found.get(scope, [])

    def bound_at(self, target: ast.Name) -> Binding | None:
        """Return the binding that a target creates."""
        return self._by_target.get(target)

    @cached_property
    def _by_target(self) -> dict[ast.AST, Binding]:
        scopes = self._tree.scopes.values()
        return {
            binding.node: binding
            for scope in scopes
            for bindings in scope.bindings.values()
            for binding in bindings
        }

    @cached_property
    def _by_name(self) -> dict[str, list[ast.Name]]:
        found: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for node in self._tree.of_type(ast.Name):
            found[node.id].append(node)
        return dict(found)
