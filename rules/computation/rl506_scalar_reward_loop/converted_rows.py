"""Recurrences that convert one row of an array after the other by a function of tensors."""

from __future__ import annotations

import ast

from rlint.rule import (
    SemanticModel,
    TypeTag,
    descendants,
    dump_as_read,
    frozen,
    last_name,
    regex,
    variable_names,
)
from rlint.rules.computation.rl506_scalar_reward_loop.counting_loops import counting_loop

_NORMALIZES = regex(r"^_*(de|un)_?(normali[sz]e|standardi[sz]e|scale)|^_*(inverse_transform|unsquash)$")
"""Methods that treat each number alone, by one mean and scale."""


@frozen
class ConvertedRows:
    """`calls` convert rows of `held` in each iteration of a loop over steps."""

    calls: tuple[ast.Call, ...]
    held: ast.expr


def converted_rows(loop: ast.For, model: SemanticModel) -> ConvertedRows | None:
    """Return the calls in `for t in reversed(range(n)): delta = r[t] + gamma * norm.denormalize(v[t + 1]) -
    …` that one call for all rows before the loop would replace.
    """
    if not isinstance(loop.target, ast.Name):
        return None
    calls = [node for node in descendants(loop) if isinstance(node, ast.Call)]
    arrays = {call: held for call in calls if (held := _array_of_row(call, loop, model)) is not None}
    if not arrays or not _stores_by_step(loop):
        return None
    held = next(iter(arrays.values()))
    of_array = [call for call, other in arrays.items() if dump_as_read(other) == dump_as_read(held)]
    if _is_written(held, loop) or not all(_runs_tensors(call, model) for call in of_array):
        return None
    return ConvertedRows(tuple(of_array), held)


def _array_of_row(call: ast.Call, loop: ast.For, model: SemanticModel) -> ast.expr | None:
    """Return the array of which a call only takes a row, at the step or next to it: `f(values[t + 1])`."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr=method) as func,
            args=[ast.Subscript(value=(ast.Name() | ast.Attribute()) as held, slice=index)],
            keywords=[],
        ) if _NORMALIZES.search(method):
            pass
        case _:
            return None
    match index:
        case ast.Name() as counter:
            pass
        case ast.BinOp(left=ast.Name() as counter, op=ast.Add() | ast.Sub(), right=ast.Constant()):
            pass
        case _:
            return None
    is_of_loop = counting_loop(counter, call, model) is loop
    return held if is_of_loop and counter.id not in variable_names(func) else None


def _stores_by_step(loop: ast.For) -> bool:
    """Whether an iteration stores a result at its step: `returns[t] = …`."""
    assert isinstance(loop.target, ast.Name)
    counter = loop.target.id
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and any(isinstance(part, ast.Name) and part.id == counter for part in descendants(node.slice))
        for node in descendants(loop)
    )


def _is_written(held: ast.expr, loop: ast.For) -> bool:
    """Whether the loop sets elements of an array, or the variable that holds it."""
    text = dump_as_read(held)
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and dump_as_read(node.value) == text
        for node in descendants(loop)
    ) or any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == last_name(held)
        for node in descendants(loop)
    )


def _runs_tensors(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs operations of torch: it is a method of a network, or of a class of the project that
    calls torch, or its object is not known.
    """
    assert isinstance(call.func, ast.Attribute)
    if model.types.type_of(call.func.value).tag is TypeTag.MODULE:
        return True
    targets = model.types.call_targets(call)
    if targets:
        return any(site.path.startswith("torch.") for target in targets for site in target.calls)
    return (
        model.types.type_of(call.func.value).tag is TypeTag.UNKNOWN
        and model.names.qualified(call.func) is None
    )
