"""The networks of a file that show in its reads of their weights: `optim.Adam(self.critic.parameters())`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_targets import arguments_of, parameter_of
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import FunctionSummary

_MOST = 12
"""Maximum number of calls examined for one expression."""


class WeightReads:
    """Finds the expressions whose parameters or state dict one file reads."""

    def __init__(self, syntax: SyntaxIndex) -> None:
        self._syntax = syntax
        self._shapes: dict[str | None, set[str]] = {}  # as `ast.dump` writes them

    def include(self, expression: ast.expr) -> bool:
        """Whether the file reads the weights of an expression with the same source."""
        name = last_name(expression)
        shapes = self._shapes.get(name)
        if shapes is None:
            shapes = self._shapes[name] = set(map(ast.dump, self._by_name.get(name, ())))
        return bool(shapes) and ast.dump(expression) in shapes

    def include_passed(
        self, expression: ast.expr, targets: Callable[[ast.Call], list[FunctionSummary]]
    ) -> bool:
        """Whether the file passes an expression with the same source to functions of the project that read
        the weights of this argument: `soft_update(self.critic, self.critic_target)`. `targets` are the
        functions that a call may run.
        """
        passed = self._passed.get(last_name(expression), ())[:_MOST]
        shape = ast.dump(expression) if passed else ""
        for call, argument in passed:
            if ast.dump(argument) == shape:
                called = targets(call)
                if called and all(parameter_of(argument, call, one) in one.weights_read for one in called):
                    return True
        return False

    def parameters_read(self, function: Function) -> tuple[str, ...]:
        """Return the parameters of a function whose weights it reads."""
        return tuple(sorted(self._in_functions.get(function, ())))

    @cached_property
    def _in_functions(self) -> dict[Function, set[str]]:
        found: dict[Function, set[str]] = {}
        for expressions in self._by_name.values():
            for each in expressions:
                function = self._syntax.function(each)
                if isinstance(each, ast.Name) and isinstance(function, FUNCTIONS):
                    found.setdefault(function, set()).add(each.id)
        return found

    @cached_property
    def _passed(self) -> dict[str | None, list[tuple[ast.Call, ast.expr]]]:
        """Return the variables and attributes that calls in statements of their own pass, by last name."""
        found: dict[str | None, list[tuple[ast.Call, ast.expr]]] = {}
        for call in self._syntax.of_type(ast.Call):
            assert isinstance(call, ast.Call)
            if isinstance(self._syntax.parents.get(call), (ast.Expr, ast.Assign)):
                for argument in arguments_of(call):
                    if isinstance(argument, (ast.Name, ast.Attribute)):
                        found.setdefault(last_name(argument), []).append((call, argument))
        return found

    @cached_property
    def _by_name(self) -> dict[str | None, list[ast.expr]]:
        """Return the expressions whose weights are read, by their last name."""
        found: dict[str | None, list[ast.expr]] = {}
        for name in models.having(Trait.REACHES_WEIGHTS, TypeTag.MODULE):
            for use in self._syntax.written.attributes.get(name, ()):
                found.setdefault(last_name(use.value), []).append(use.value)
        return found
