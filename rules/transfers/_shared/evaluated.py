"""Evaluation between two places of one expression, and whether a value is the same afterwards."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import SemanticModel, descendants

_SIMPLE = (ast.Name, ast.Attribute, ast.Constant)


def is_unchanged_between(
    value: ast.expr, parts: Sequence[ast.expr], first: ast.AST, second: ast.AST, model: SemanticModel
) -> bool:
    """Whether a value is the same at `first` and `second`, between which the parts of one expression are
    evaluated, and may be read before them as well as after.
    """
    if all(isinstance(part, _SIMPLE) for part in parts):
        return isinstance(value, _SIMPLE) or model.effects.effect_of(value).quiet
    if any(isinstance(node, ast.NamedExpr) for part in parts for node in descendants(part)):
        return model.dataflow.unchanged_between(value, first, second)
    quiet = all(model.effects.effect_of(part).quiet for part in (*parts, value))
    return quiet or model.dataflow.unchanged_between(value, first, second)
