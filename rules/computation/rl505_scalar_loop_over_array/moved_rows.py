"""Loops that gather one step of a sequence after the other and copy each to a device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Device, SemanticModel, Trait, TypeTag, descendants, models, trip_count, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop, made_into
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import held_by

_FEW = 4
_COPIES = ("to", "cuda")
_JOINS = models.having(Trait.JOINS, "torch")


def moved_rows(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for t in range(n): x[t] = self.states[indices + t].to(device)` copies: the places do not
    depend on what the loop computes, so that one index and one copy gather all steps.
    """
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=func), orelse=[]):
            if model.names.qualified(func) != "builtins.range":
                return None
        case _:
            return None
    passes = trip_count.passes(loop, model)
    if (passes is not None and passes < _FEW) or trip_count.over_components(loop, model):
        return None
    computed = _computed(loop)
    for value in _stored(loop, counter, model):
        held = _gathered(value, model)
        if held is None or variable_names(value) & computed:
            continue
        text = model.source.text(held_by(held))
        return ItemLoop(
            held_by(held),
            f"gathers the items of `{text}` step by step, and copies each to the device,",
            "Index all steps at once (`indices + torch.arange(n)[:, None]`) and copy the result once",
            sized=True,
            heavy=True,
        )
    return None


def _stored(loop: ast.For, counter: str, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the values that a loop assigns to items `x[t]`, or appends to lists that are joined."""
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=held, slice=place)], value=value):
                if counter in variable_names(place) and model.types.type_of(held).tag is TypeTag.TENSOR:
                    yield value
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name() as kept, attr="append"), args=[value])
            ):
                if made_into(kept, model, _JOINS) is not None:
                    yield value


def _gathered(value: ast.expr, model: SemanticModel) -> ast.Subscript | None:
    """Return `x[indices]` of `x[indices].to(device)`, where `x` is a tensor in host memory."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in _COPIES and isinstance(value.func.value, ast.Subscript):
            item = value.func.value
            kind = model.types.type_of(held_by(item))
            is_host = kind.tag is TypeTag.TENSOR and kind.device is Device.HOST
            return item if is_host and isinstance(item.slice, (ast.Name, ast.BinOp)) else None
        value = value.func.value
    return None


def _computed(loop: ast.For) -> set[str]:
    """Return the variables that a loop computes, other than places that advance by `indices += n`."""
    found: set[str] = set()
    for node in descendants(loop):
        match node:
            case ast.Assign(targets=targets):
                found |= {name for target in targets for name in _bound(target)}
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                if not isinstance(op, ast.Add) or any(
                    isinstance(part, ast.Call) for part in descendants(value)
                ):
                    found.add(name)
            case ast.For(target=target) if node is not loop:
                found |= variable_names(target)
    return found


def _bound(target: ast.expr) -> set[str]:
    names = {
        each.id
        for each in descendants(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    held = held_by(target) if isinstance(target, ast.Subscript) else None
    return names | ({held.id} if isinstance(held, ast.Name) else set())
