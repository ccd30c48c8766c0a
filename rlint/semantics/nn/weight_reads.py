"""The networks of a file that show in its reads of their weights: `optim.Adam(self.critic.parameters())`."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import SyntaxIndex


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

    @cached_property
    def _by_name(self) -> dict[str | None, list[ast.expr]]:
        """Return the expressions whose weights are read, by their last name."""
        found: dict[str | None, list[ast.expr]] = {}
        for name in models.having(Trait.REACHES_WEIGHTS, TypeTag.MODULE):
            for use in self._syntax.written.attributes.get(name, ()):
                found.setdefault(last_name(use.value), []).append(use.value)
        return found
