"""Definition-use chains: the uses of a variable that may read each of its bindings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS, ReachingDefinitions
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import SyntaxIndex


class DefUse:
    """The uses of one variable, grouped by the bindings that reach them, so that each use is resolved only
    once.
    """

    def __init__(
        self, name: str, scope: Scope, syntax: SyntaxIndex, definitions: ReachingDefinitions
    ) -> None:
        self._of_any: list[tuple[int, ast.Name]] = []
        self._by_binding: dict[Binding, list[tuple[int, ast.Name]]] = {}
        for place, use in enumerate(syntax.variables.uses(name, scope)):
            for binding in _read_by(use, scope, syntax, definitions):
                found = self._of_any if binding is None else self._by_binding.setdefault(binding, [])
                found.append((place, use))

    def of(self, binding: Binding) -> list[ast.Name]:
        """Return the uses that may read a binding, in source order."""
        own = self._by_binding.get(binding, [])
        found = sorted([*own, *self._of_any], key=lambda each: each[0]) if own else self._of_any
        return [use for _, use in found]


def is_captured(use: ast.Name, scope: Scope, syntax: SyntaxIndex) -> bool:
    """Whether a nested function or class reads the variable."""
    inner = syntax.scope(use)
    while inner is not scope and inner.is_comprehension and inner.parent is not None:
        inner = inner.parent
    return inner is not scope


def _read_by(
    use: ast.Name, scope: Scope, syntax: SyntaxIndex, definitions: ReachingDefinitions
) -> Iterator[Binding | None]:
    """Yield the bindings that a use may read; None means any."""
    if isinstance(use.ctx, ast.Load):
        if is_captured(use, scope, syntax):
            yield None
            return
        reaching = definitions.reaching(use)
    else:
        parent = syntax.parents[use]
        if not isinstance(parent, ast.AugAssign):
            return
        reaching = definitions.before(use.id, parent, scope)
    if len(reaching) > MAX_DEFINITIONS:
        yield None  # all uses of the variable
    else:
        yield from reaching
