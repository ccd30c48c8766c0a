"""Sequences that a loop copies from a buffer to a batch, one slice for each drawn place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, TypeTag, axes_of, descendants, frozen, last_name, regex, variable_names
from rlint.rules.buffers._shared.held import are_few, is_sampling
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import drawn_by, number_drawn
from rlint.rules.buffers.rl102_list_indexed_sample.sliced import has_one_length

_ARRAYS = (TypeTag.NDARRAY, TypeTag.TENSOR)
_DRAWN = regex(r"(^|_)(ind|inds|indices|idxs|indexes|rows|starts?|chosen|drawn|samples?)(_|$)")
_OF_FEW = regex(r"(^|_)(env|agent|worker|task|player|head|layer)(s|_ids?|_names?)?(_|$)")

_LARGEST_RANK = 3
"""Steps, environments, and numbers."""


@frozen
class PlacedSlices:
    """`batch[:, i] = held[t : t + n, b]` for each place of `indices`; `wraps`: slices at the end are
    continued at the start.
    """

    held: ast.expr
    batch: ast.expr
    indices: ast.expr
    wraps: bool


def placed_slices(loop: ast.For, model: SemanticModel) -> PlacedSlices | None:
    """Return the slices that a loop over drawn places writes to the rows of a batch."""
    found = _drawn_places(loop, model)
    if found is None:
        return None
    counter, indices, items = found
    placed: PlacedSlices | None = None
    for target, value in _copies(loop):
        batch, held = target.value, value.value
        while isinstance(batch, ast.Subscript):
            batch = batch.value
        if not isinstance(batch, ast.Name) or not isinstance(held, (ast.Name, ast.Attribute)):
            return None
        if not any(isinstance(axis, ast.Name) and axis.id == counter for axis in axes_of(target.slice)):
            return None  # the batch is written at another place
        if not _is_array(value, model) or variable_names(held) & (items | {counter}):
            return None
        moving = [axis for axis in axes_of(value.slice) if isinstance(axis, ast.Slice)]
        moving = [axis for axis in moving if variable_names(axis) & (items | {counter})]
        if len(moving) > 1:
            return None  # crops of images: an index array for each axis takes longer than the slices
        if moving and has_one_length(moving[0], items):
            wraps = any(isinstance(statement, ast.If) for statement in loop.body)
            placed = placed or PlacedSlices(held, batch, indices, wraps)
    return placed


def _copies(loop: ast.For) -> Iterator[tuple[ast.Subscript, ast.Subscript]]:
    """Yield the assignments of items of one container to those of another."""
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Assign(targets=[ast.Subscript() as target], value=ast.Subscript() as value):
                    yield target, value


def _drawn_places(loop: ast.For, model: SemanticModel) -> tuple[str, ast.expr, set[str]] | None:
    """Return the counter of a loop over drawn places, the places, and the variables of an iteration that
    depend on them.
    """
    match loop.iter, loop.target:
        case (
            ast.Call(func=func, args=[places]),
            ast.Tuple(elts=[ast.Name(id=counter), target]),
        ) if model.names.qualified(func) == "builtins.enumerate":
            items = variable_names(target)
        case (
            ast.Call(func=func, args=[_]),
            ast.Name(id=counter),
        ) if model.names.qualified(func) == "builtins.range":
            looked_up = [
                node
                for statement in loop.body
                for node in descendants(statement)
                if isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Load)
                and isinstance(node.slice, ast.Name)
                and node.slice.id == counter
                and isinstance(model.parent(node), (ast.Assign, ast.Call))
            ]
            if not looked_up:
                return None
            places, items = looked_up[0].value, set[str]()
        case _:
            return None
    sources = places.args if isinstance(places, ast.Call) else [places]
    named = [source for source in sources if isinstance(source, (ast.Name, ast.Attribute))]
    drawn = [source for source in named if _is_drawn(source, loop, model)]
    if not drawn or any(_OF_FEW.search((last_name(source) or "").lower()) for source in named):
        return None
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if variable_names(value) & (
                items | {counter}
            ):
                items.add(name)
    return counter, drawn[0], items


def _is_drawn(source: ast.expr, loop: ast.For, model: SemanticModel) -> bool:
    call = drawn_by(source, model)
    if call is not None:
        return not are_few(number_drawn(call, model), model)
    return is_sampling(loop, model) or bool(_DRAWN.search((last_name(source) or "").lower()))


def _is_array(value: ast.Subscript, model: SemanticModel) -> bool:
    """Whether a slice is one of an array, or has several indices, which lists do not accept. Copying images
    takes far longer than the slices.
    """
    kind = model.types.type_of(value.value)
    if len(axes_of(value.slice)) > _LARGEST_RANK:
        return False
    if kind.rank is not None and kind.rank > _LARGEST_RANK:
        return False
    return kind.tag in _ARRAYS or (kind.tag is TypeTag.UNKNOWN and isinstance(value.slice, ast.Tuple))
