"""Uses of one mask that no plain assignment creates: a parameter, an item of a tuple, `mask &= other`."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Function,
    SemanticModel,
    axes_of,
    descendants,
)
from rlint.rules.transfers.rl212_repeated_mask_index.mask_uses import (
    MaskUse,
    mask_expression,
    places_in,
    selected_by,
    use_of,
)
from rlint.rules.transfers.rl212_repeated_mask_index.paths_of_uses import on_one_path

_Made = frozenset[int]


def uses_of_equal_masks(place: ast.Subscript | ast.Call, model: SemanticModel) -> list[MaskUse]:
    """Return the places of a function that are indexed by the same mask, written as an expression each time
    (`states[~done]`, `actions[~done]`), if this is the first of them.
    """
    mask = mask_expression(place, model)
    if mask is None:
        return []
    groups = model.once(_equal_masks, model.function(place) or model.syntax.module)
    uses = groups.get(model.source.text(mask), [])
    if not uses or uses[0].place is not place:
        return []
    lasting = [
        use
        for use in uses
        if use.place is place or model.dataflow.doubts_between(mask, mask, use.index) is not None
    ]
    found: list[MaskUse] = on_one_path(lasting, model.syntax.statement(place), model)
    return found


def _equal_masks(function: Function | ast.Module, model: SemanticModel) -> dict[str, list[MaskUse]]:
    """Return the places of a function that a mask expression indexes, by its source, in order."""
    found: dict[str, list[MaskUse]] = {}
    for place in places_in(function, model):
        mask = mask_expression(place, model)
        if mask is None or (model.function(place) or model.syntax.module) is not function:
            continue
        use = use_of(place, mask, _last_made(mask, model) or place, model)
        if use is not None:
            found.setdefault(model.source.text(mask), []).append(use)
    return found


def _last_made(mask: ast.expr, model: SemanticModel) -> ast.AST | None:
    """Return the last place that binds a variable of a mask expression; None if it has none."""
    made = [
        binding.node
        for part in descendants(mask)
        if isinstance(part, ast.Name)
        for binding in model.dataflow.definitions(part)
    ]
    return max(made, key=lambda node: getattr(node, "lineno", 0), default=None)


def uses_of_variable(place: ast.Subscript | ast.Call, model: SemanticModel) -> list[MaskUse]:
    """Return the places of a function that the same value of a variable indexes, if this is the first of
    them. Variables with one plain assignment are looked for at that.
    """
    function = model.function(place)
    if function is None or not _variables(place, model):
        return []
    groups = model.once(_by_value, function)
    uses = next((each for each in groups.values() if each[0].place is place), [])
    return on_one_path(uses, function.args, model) if uses else []


def _variables(place: ast.Subscript | ast.Call, model: SemanticModel) -> list[ast.Name]:
    """Return the variables by which a place selects elements."""
    if isinstance(place, ast.Call):
        mask = selected_by(place, model)
        return [mask] if isinstance(mask, ast.Name) else []
    index = place.slice
    return [part for part in axes_of(index) if isinstance(part, ast.Name)]


def _is_plain(statement: ast.AST) -> bool:
    """Whether a statement assigns to one variable: `mask = values > 0`."""
    match statement:
        case ast.Assign(targets=[ast.Name()]):
            return True
    return False


def _by_value(function: Function, model: SemanticModel) -> dict[tuple[str, _Made], list[MaskUse]]:
    """Return the places that variables index, by name and the bindings that reach them, in order."""
    found: dict[tuple[str, _Made], list[MaskUse]] = {}
    for place in places_in(function, model):
        if model.function(place) is not function:
            continue
        for variable in _variables(place, model):
            made = model.dataflow.definitions(variable)
            if not made or any(each.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) for each in made):
                continue
            if len(made) == 1 and _is_plain(made[0].statement):
                continue
            last = max((each.node for each in made), key=lambda node: getattr(node, "lineno", 0))
            use = use_of(place, variable, last, model)
            if use is not None:
                found.setdefault((variable.id, frozenset(map(id, made))), []).append(use)
    return found
