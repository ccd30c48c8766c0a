"""Calls with the same source as another one that see the same input and weights."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel
from rlint.rules.networks._shared.same_input import (
    has_seen_the_same,
    is_forward,
    likely_sees_the_same,
    seems_repeatable,
    that_see_the_same,
)
from rlint.rules.networks.rl313_repeated_forward.run_on_branch import sees_the_same_on_branch


def earlier_equal_calls(call: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the earlier calls with the same source."""
    equal_calls = model.dataflow.equal_to(call)
    return [other for other in equal_calls[: equal_calls.index(call)] if isinstance(other, ast.Call)]


def _later(node: ast.Call, equal_calls: list[ast.expr]) -> list[ast.Call]:
    return [call for call in equal_calls[equal_calls.index(node) + 1 :] if isinstance(call, ast.Call)]


def repeats_of(node: ast.Call, equal_calls: list[ast.expr], model: SemanticModel) -> list[ast.expr]:
    """Return the calls that repeat `node`, if it repeats none and is not part of a larger repetition."""
    after = _later(node, equal_calls)
    if not after or not is_forward(node, model, may_have_unknown=True):
        return []
    if has_seen_the_same(node, earlier_equal_calls(node, model), model):
        return []
    return [call for call in that_see_the_same(node, after, model) if not is_covered(call, model)]


def likely_repeats_of(node: ast.Call, equal_calls: list[ast.expr], model: SemanticModel) -> list[ast.expr]:
    """Return the same for calls that likely see the same: code in between is not known to change nothing."""
    after = _later(node, equal_calls)
    if not after or not model.frequency.may_be_warm(node):
        return []
    if not seems_repeatable(node, model):
        return []
    if any(likely_sees_the_same(other, node, model) for other in earlier_equal_calls(node, model)):
        return []
    return [call for call in after if likely_sees_the_same(node, call, model) and not is_covered(call, model)]


def repeats_on_branch(node: ast.Call, equal_calls: list[ast.expr], model: SemanticModel) -> list[ast.expr]:
    """Return the same for a call in a branch of a condition, after which the network runs in any case."""
    after = _later(node, equal_calls)
    if not after or not model.frequency.may_be_warm(node) or not seems_repeatable(node, model):
        return []
    again = next((call for call in after if sees_the_same_on_branch(node, call, model)), None)
    return [again] if again is not None else []


def is_covered(call: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an argument of a call that is itself a repeated forward pass."""
    for ancestor in model.ancestors(call):
        if isinstance(ancestor, ast.stmt):
            return False
        if not isinstance(ancestor, ast.Call) or not is_forward(ancestor, model):
            continue
        if has_seen_the_same(ancestor, earlier_equal_calls(ancestor, model), model):
            return True
    return False
