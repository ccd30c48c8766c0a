"""Branches that an agent takes only when it explores at random."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rlint.regex import regex
from rlint.syntax.last_names import last_name
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_EXPLORATION = regex(r"(^|_)(eps|epsilon|explor\w*)(_|$|\d)", re.IGNORECASE)
_DRAWS = frozenset("rand random random_sample uniform".split())
_MOST_NAMES = 2
_RARE = 0.1
"""Maximum probability of a random exploration that never decays."""


def explores(test: ast.expr, model: SemanticModel, *, taken: bool) -> bool:
    """Whether a test holds (or, if not `taken`, fails) with the probability of a random exploration:
    `random.random() < epsilon`. The probability decays in nearly all trainings, or is small throughout.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return explores(operand, model, taken=not taken)
        case ast.BoolOp(op=ast.And(), values=values) if taken:
            return any(explores(value, model, taken=taken) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values) if not taken:
            return any(explores(value, model, taken=taken) for value in values)
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
            below = taken
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
            below = not taken
        case _:
            return False
    if _is_rare(left, right, model, below=below) or _is_rare(right, left, model, below=not below):
        return True
    drawn, limit = (left, right) if below else (right, left)
    return _is_drawn(drawn, model) and any(
        _EXPLORATION.search(name) for node in descendants(limit) if (name := last_name(node) or "")
    )


def _is_rare(drawn: ast.expr, limit: ast.expr, model: SemanticModel, *, below: bool) -> bool:
    """Whether a random number is below (or above) a constant only rarely: `random.random() > 0.9`."""
    match limit:
        case ast.Constant(value=float() as share):
            chance = share if below else 1 - share
            return 0 <= chance <= _RARE + 1e-9 and _is_drawn(drawn, model)
    return False


def _is_drawn(value: ast.expr, model: SemanticModel, depth: int = _MOST_NAMES) -> bool:
    """Whether a value is a random number, drawn here or before."""
    if isinstance(value, ast.Name) and depth:
        bindings = model.dataflow.definitions(value)
        return (
            len(bindings) == 1
            and bindings[0].value is not None
            and _is_drawn(bindings[0].value, model, depth - 1)
        )
    return any(isinstance(node, ast.Call) and last_name(node.func) in _DRAWS for node in descendants(value))
