"""Warm code that runs in few of many steps."""

from __future__ import annotations

import ast

from rlint.rule import GuardKind, Heat, SemanticModel

_SELDOM = frozenset({GuardKind.ENDS, GuardKind.ONCE, GuardKind.INTERVAL})


def runs_in_few_steps(node: ast.AST, model: SemanticModel) -> bool:
    """Whether code is warm only because a condition holds in few of the steps: `if step % 1000 == 0:`."""
    if model.frequency.heat_of(node).level is Heat.HOT:
        return False
    return is_rarely_reached(node, model)


def is_rarely_reached(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a condition around a node, or around a call of its function, holds in few of the steps: one
    that leaves the code as hot as it was, such as a parameter that is `None`, does not.
    """
    guards = model.frequency.guards(node)
    return any(guard.kind in _SELDOM and guard.cap is not Heat.HOT for guard in guards)
