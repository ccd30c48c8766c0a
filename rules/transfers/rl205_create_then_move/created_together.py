"""Tensors that one function creates and moves in the same way, next to each other."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel, descendants
from rlint.rules.transfers._shared.creations import Creation
from rlint.rules.transfers.rl205_create_then_move.cheap_creations import why_cheap
from rlint.rules.transfers.rl205_create_then_move.reported_creations import data_of, reported_creation

_MOST_LINES_BETWEEN = 3


def created_together(creation: Creation, model: SemanticModel) -> list[ast.Call]:
    """Return the moves of tensors that are created and moved as one is, next to it, this one included. The
    first is one with further arithmetic, which the device could create at once, or else the first in order.
    """
    call = creation.move.call
    function = model.function(call)
    groups: list[list[Creation]] = []
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        groups = model.once(_groups_in, function)
    group = next((each for each in groups if any(one.move.call is call for one in each)), [creation])
    first = min(group, key=lambda one: _order(one, model))
    return [first.move.call, *(one.move.call for one in group if one is not first)]


def why_shared(first: ast.Call, model: SemanticModel) -> str:
    """Return why a creation costs little beside the first of its group."""
    return f"created in the same way as in line {model.span_of(first)[0].line}: one change mends both"


def _groups_in(function: Function, model: SemanticModel) -> list[list[Creation]]:
    calls = [node for node in descendants(function) if isinstance(node, ast.Call)]
    own = [call for call in calls if model.function(call) is function]
    creations = [model.once(reported_creation, call) for call in sorted(own, key=model.source.span)]
    groups: list[list[Creation]] = []
    for creation in creations:
        if creation is None:
            continue
        group = next((each for each in groups if _continues(each[-1], creation, model)), None)
        if group is None:
            groups.append([creation])
        else:
            group.append(creation)
    return groups


def _continues(last: Creation, creation: Creation, model: SemanticModel) -> bool:
    """Whether a tensor is created as the one before, a few lines below it and as often."""
    one, other = last.move.call, creation.move.call
    lines = model.span_of(other)[0].line - model.span_of(one)[1].line
    if lines > _MOST_LINES_BETWEEN or model.frequency.loops(one) != model.frequency.loops(other):
        return False
    return _functions(last, model) == _functions(creation, model)


def _functions(creation: Creation, model: SemanticModel) -> list[str | None]:
    return [model.names.qualified(call.func) for call in creation.made.calls]


def _order(creation: Creation, model: SemanticModel) -> tuple[bool, bool]:
    """Return a key that is least for the creation that costs most."""
    is_cheap = why_cheap(creation, data_of(creation, model), model) is not None
    return is_cheap, not isinstance(model.parent(creation.move.call), ast.BinOp)
