"""How many rows a draw chooses from, if the code tells, and why they are few."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    SemanticModel,
    descendants,
    frozen,
    last_name,
    regex,
)
from rlint.rules.buffers._shared.capacity import capacity_of_class

_POOL = regex(r"(^|_)(pool|codebook|codes?|embed|embeds|embeddings?)(_|$)")
_ROUNDS = regex(
    r"(^|_)(paths?|trajector(y|ies)|episodes?|rollouts?|demos?|demonstrations?|sequences?|games)(_|$)"
)
_ROLLOUT = regex(r"rollout|on_?policy|ppo|trajectory_?(buffer|memory|storage)", re.IGNORECASE)
_SMALL = 4096
"""A permutation of so many rows takes some tens of microseconds, little more than any other draw."""
_LARGE = 100_000
"""Buffers are assumed to hold so many rows if nothing is known of them."""


@frozen
class RowCount:
    """The usual number of rows, and why it is small, None if it is not."""

    number: int | None
    few: str | None


def rows_of(count: ast.expr, model: SemanticModel, *, codes: bool = False) -> RowCount:
    """Return how many rows an expression counts. `codes`: entries of codebooks are drawn, too."""
    cls = model.class_of(count)
    number = model.sizes.number(count)
    capacity = model.once(capacity_of_class, cls) if number is None and cls is not None else None
    if capacity is not None and capacity < _LARGE:  # a larger one may never be filled
        number = capacity
    named = {name.lower() for node in descendants(count) if (name := _name(node))}
    few = None
    if number is not None:
        few = f"a permutation of {number} rows takes little time" if number <= _SMALL else None
    elif codes and any(map(_POOL.search, named)):
        few = "pools and codebooks have few entries"
    elif any(map(_ROUNDS.search, named)):
        few = "there rarely are more than a thousand trajectories"
    elif cls is not None and _ROLLOUT.search(cls.name):
        few = "a rollout has a few thousand rows"
    return RowCount(number, few)


def _name(node: ast.AST) -> str | None:
    return last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
