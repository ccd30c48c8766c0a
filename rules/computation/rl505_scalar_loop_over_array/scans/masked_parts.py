"""Loops that compare whole arrays with the bounds of one part after the other, and reduce each part."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, trip_count, variable_names
from rlint.rules.computation._shared.stratified_draws import is_short
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_FEWEST_REDUCTIONS = 2
_ITERATES = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")
_REDUCES = models.having(Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES, TypeTag.TENSOR)


def masked_parts(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for k, (low, high) in enumerate(zip(lows, highs)): mask = (x >= low) & (x < high)`, with
    `total[k] = mask.sum()` and the like, computes: several passes over all elements of tensors per part.
    """
    bounds = _bounds(loop, model)
    if bounds is None or loop.orelse:
        return None
    if is_short(loop, model) or trip_count.over_components(loop, model):
        return None
    masks = _masks(loop.body, bounds, model)
    if not masks:
        return None
    reductions = [
        node
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _REDUCES
        and model.types.type_of(node.func.value).tag is TypeTag.TENSOR
        and variable_names(node) & masks
    ]
    if len(reductions) < _FEWEST_REDUCTIONS or not _only_computes(loop.body, model):
        return None
    held = reductions[0].func
    assert isinstance(held, ast.Attribute)
    return ItemLoop(
        held.value,
        "compares whole tensors with the bounds of each part, and reduces each part on its own,",
        "Find the part of every element once (`torch.bucketize`), and reduce all parts together "
        "(`torch.bincount`, `scatter_add_`, `scatter_reduce_`)",
        sized=True,
    )


def _bounds(loop: ast.For, model: SemanticModel) -> set[str] | None:
    """Return the variables that hold the bounds of a part: items of tensors."""
    iterable, target = loop.iter, loop.target
    match iterable, target:
        case ast.Call(func=func, args=[numbered]), ast.Tuple(elts=[ast.Name(), item]) if (
            model.names.qualified(func) == "builtins.enumerate"
        ):
            iterable, target = numbered, item
    given = [iterable]
    if isinstance(iterable, ast.Call) and model.names.qualified(iterable.func) in _ITERATES:
        given = list(iterable.args)
    if not given or not all(model.types.type_of(each).tag is TypeTag.TENSOR for each in given):
        return None
    return variable_names(target)


def _masks(body: list[ast.stmt], bounds: set[str], model: SemanticModel) -> set[str]:
    """Return the variables that hold a comparison of tensors with the bounds, or are computed from one."""
    masks: set[str] = set()
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if variable_names(value) & masks or _compares(value, bounds, model):
                    masks.add(name)
    return masks


def _compares(value: ast.expr, bounds: set[str], model: SemanticModel) -> bool:
    for node in descendants(value):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                pass
            case ast.Call(func=ast.Attribute(value=left, attr="gt" | "ge" | "lt" | "le"), args=[right]):
                pass
            case _:
                continue
        others = [side for side in (left, right) if not (isinstance(side, ast.Name) and side.id in bounds)]
        if len(others) == 1 and model.types.type_of(others[0]).tag is TypeTag.TENSOR:
            return True
    return False


def _only_computes(statements: list[ast.stmt], model: SemanticModel) -> bool:
    """Whether statements only compute values and store them in variables and elements."""
    for statement in statements:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                if not model.effects.effect_of(test).quiet:
                    return False
                if not _only_computes(body, model) or not _only_computes(orelse, model):
                    return False
            case (
                ast.Assign(targets=[ast.Name() | ast.Subscript()], value=value)
                | ast.AugAssign(target=ast.Name() | ast.Subscript(), value=value)
                | ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[value]))
            ):
                if not model.effects.effect_of(value).quiet:
                    return False
            case _:
                return False
    return True
