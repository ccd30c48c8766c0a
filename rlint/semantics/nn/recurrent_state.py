"""Recurrent state: results that a caller only passes back to the same function, or stores as data."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.semantics.nn.gradient_sinks import ENDS, GradientTrace, is_store

if TYPE_CHECKING:
    from rlint.semantics.nn.gradient_flow import GradientFlow

_MOST = 6
"""Maximum number of items of a result that are followed."""


def ends_of_results(call: ast.Call, gradients: GradientFlow) -> tuple[int, ...]:
    """Return the items of the result of a call whose gradient ends in the calling function: they become
    numbers, are detached, or are only passed back to the same function as its state; -1 if all items do.
    """
    parent = gradients.syntax.parents.get(call)
    if isinstance(parent, ast.Expr):
        return (-1,)
    match parent:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) <= _MOST:
            if any(isinstance(target, ast.Starred) for target in targets):
                return ()
        case ast.Assign(targets=[ast.Name() as target]) if _may_end(call, gradients):
            return (-1,) if StateTrace(gradients, call).ends(target) else ()
        case _:
            return ()
    ended = [
        place
        for place, target in enumerate(targets)
        if isinstance(target, ast.Name) and StateTrace(gradients, call).ends(target)
    ]
    return (*ended, -1) if len(ended) == len(targets) else tuple(ended)


def _may_end(call: ast.Call, gradients: GradientFlow) -> bool:
    """Whether the result of a call of no library may be detached later in a file that computes gradients."""
    text = gradients.syntax.text
    if "detach(" not in text or "backward(" not in text:
        return False
    return gradients.analysis.names.qualified(call.func) is None


class StateTrace(GradientTrace):
    """Follows one item of a call's result, without the calls that it is passed back to."""

    def __init__(self, gradients: GradientFlow, call: ast.Call) -> None:
        super().__init__(gradients)
        self._called = ast.dump(call.func)
        self._is_recurrent = False
        self._is_stored = False

    def ends(self, target: ast.Name) -> bool:
        """Whether the gradient of the item that is bound to a variable ends in the function."""
        scope = self.syntax.scope(target).lookup(target.id)
        binding = self.syntax.variables.bound_at(target)
        if scope is None or binding is None or target.id == "_":
            return target.id == "_"
        labels = {left.label for left in self.of_binding(binding, scope)}
        return labels <= ENDS and (self._is_recurrent or not self._is_stored)

    def called_with(self, argument: ast.AST, call: ast.Call) -> None:
        """Record that the value is passed back, or stored."""
        if ast.dump(call.func) == self._called:
            self._is_recurrent = True
        elif is_store(call):
            self._is_stored = True
        else:
            super().called_with(argument, call)
