"""Queries about names in one file: their meaning and their uses."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.semantics.effects.reflection import OF_THE_FUNCTION, lookups
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.assignments import targets_of, value_assigned
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import place_in_order


class NameQueries:
    """Answers what names of one file refer to, what binds them and which code uses them."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self.qualified = analysis.names.qualified
        """The canonical dotted name that an expression refers to, through imports and aliases:
        `numpy.concatenate`, `torch.nn.functional.relu`, `builtins.len`; None for the value of a variable.
        """
        self._reads: dict[tuple[str, Scope], list[ast.Name]] = {}
        self._captured: dict[tuple[str, Scope], bool] = {}
        self._calls_named: dict[str, dict[Function | None, list[ast.Call]]] = {}

    def spelled(self, qualified: str, at: ast.AST) -> str | None:
        """Return the spelling of a library name at a place, given its imports; None without an import."""
        return self._analysis.names.spelled(qualified, at)

    def scope(self, node: ast.AST) -> Scope:
        """Return the scope in which a node is evaluated."""
        return self._syntax.scope(node)

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Return all bindings of this variable, anywhere in its scope; empty for a builtin."""
        return self._analysis.names.bindings(name)[1]

    def is_bound_each_pass(self, name: ast.Name) -> bool:
        """Whether a local variable is always bound again before a loop around `name` reaches it once more."""
        return self._analysis.definitions.bound_each_pass(name)

    def uses(self, name: str, scope: Scope) -> list[ast.Name]:
        """Return all nodes that read, bind or delete the variable `name` of `scope`, nested functions
        included.
        """
        return self._syntax.variables.uses(name, scope)

    def reads(self, name: str, scope: Scope) -> list[ast.Name]:
        """Return the nodes that read the variable `name` of `scope`, nested functions included; `x` in
        `x += 1` is one of them.
        """
        known = self._reads.get((name, scope))
        if known is None:
            known = self._reads[name, scope] = list(filter(self._is_read, self.uses(name, scope)))
        return list(known)

    def _is_read(self, use: ast.Name) -> bool:
        return isinstance(use.ctx, ast.Load) or isinstance(self._syntax.parents.get(use), ast.AugAssign)

    def is_captured(self, name: str, scope: Scope) -> bool:
        """Whether the variable is used by a nested function, lambda or class, declared global, or may be
        looked up by name (`locals()`, `exec`, `eval`).
        """
        known = self._captured.get((name, scope))
        if known is None:
            known = self._captured[name, scope] = self._is_captured(name, scope)
        return known

    def _is_captured(self, name: str, scope: Scope) -> bool:
        if name in self._syntax.declared:
            return True
        for node in self.uses(name, scope):
            inner = self._syntax.scope(node)
            while inner.is_comprehension and inner.parent is not None:
                inner = inner.parent
            if inner is not scope:
                return True
        return any(self._syntax.scope(call).function is scope for call in self._dynamic_lookups)

    @cached_property
    def _dynamic_lookups(self) -> list[ast.Call]:
        return list(lookups(self._syntax, {**OF_THE_FUNCTION, "globals": 9}))

    def targets(self, value: ast.AST) -> list[ast.expr]:
        """Return the targets of an assignment that receive the value of an expression, also `b` in `a, b =
        other, value`; empty if the expression is not assigned.
        """
        return targets_of(value, self._syntax.parents)

    def assigned(self, target: ast.AST) -> ast.expr | None:
        """Return the value that the assignment around a target assigns to it; None if it is unpacked or bound
        otherwise.
        """
        return value_assigned(target, self._syntax.parents)

    def attribute_uses(self, attribute: str) -> list[ast.Attribute]:
        """Return all nodes of this file that read, set or delete an attribute of this name, on any object."""
        return self._syntax.written.attributes.get(attribute, [])

    def calls_named(self, name: str, function: Function | None) -> list[ast.Call]:
        """Return the calls in a function (or at module level) of a function or method with this name."""
        found = self._calls_named.get(name)
        if found is None:
            found = self._calls_named[name] = {}
            for call in self._syntax.written.calls.get(name, ()):
                found.setdefault(self._syntax.function(call), []).append(call)
        return found.get(function, [])

    @cached_property
    def calls_by_name(self) -> dict[str, list[ast.Call]]:
        """Return the calls by the last name of the callee, both as written and as resolved: `vstack` for
        `numpy.row_stack`, `deepcopy` for `clone` after `from copy import deepcopy as clone`.
        """
        qualified = self._analysis.names.qualified
        found = dict(self._syntax.written.calls)
        renamed: dict[str, list[ast.Call]] = {}
        for written, calls in found.items():
            for call in calls:
                known = (qualified(call.func) or "").rpartition(".")[2]
                if known and known != written:
                    renamed.setdefault(known, []).append(call)
        for known, calls in renamed.items():
            found[known] = sorted([*found.get(known, ()), *calls], key=place_in_order)
        return found

    def is_self(self, expression: ast.expr) -> bool:
        """Whether this is the first parameter of the enclosing method."""
        return self._analysis.names.is_self(expression)
