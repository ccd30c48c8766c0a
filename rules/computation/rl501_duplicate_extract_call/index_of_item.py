"""Searches for the index of an item that was just read by its index."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, last_name, parameter_of


def known_index(call: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return `i` of `place = self.places[i]` if a call looks for `place` in the whole array again:
    `self.index_of(place)`.
    """
    targets = model.types.call_targets(call)
    if len(targets) != 1 or not targets[0].searches[0]:
        return None
    parameter, attribute = targets[0].searches
    given = [each for each in call.args if parameter_of(each, call, targets[0]) == parameter]
    if len(given) != 1 or not isinstance(given[0], ast.Name):
        return None
    made = model.dataflow.definitions(given[0])
    if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path:
        return None
    match made[0].value:
        case ast.Subscript(value=held, slice=ast.Name() as index):
            while isinstance(held, ast.Subscript):
                held = held.value
            is_same = isinstance(held, ast.Attribute) and last_name(held) == attribute
            kept = model.dataflow.keeps(index, made[0].node, call)
            return index if is_same and kept else None
    return None
