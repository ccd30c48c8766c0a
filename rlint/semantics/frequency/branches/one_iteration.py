"""Tests that hold in one iteration of a loop."""

from __future__ import annotations

import ast

from rlint.semantics.frequency.loop_variables import ItemKind, Qualified, items_of
from rlint.semantics.frequency.loops import AnyLoop
from rlint.syntax.walk import descendants


def equals_count(test: ast.expr, loop: AnyLoop, qualified: Qualified, *, taken: bool) -> bool:
    """Whether a test has an outcome only where the variable that counts the iterations of a loop equals a
    value that does not depend on the loop: `i == self.index`, or `i != self.index` for the other outcome.
    """
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq if taken else ast.NotEq):
        return False
    items = items_of(loop, qualified)
    sides = test.left, test.comparators[0]
    return len(test.ops) == 1 and any(
        isinstance(one, ast.Name)
        and one.id in items
        and items[one.id].sort is ItemKind.COUNT
        and not any(
            isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in items)
            for node in descendants(other)
        )
        for one, other in (sides, sides[::-1])
    )
