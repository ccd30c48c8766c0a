"""Lists of consecutive items of arrays, which a slice is already, and of equal arrays."""

from __future__ import annotations

import ast

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    last_name,
    models,
    regex,
    variable_names,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop, made_into

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_ARRAYS_OF = models.having(Trait.FROM_DATA, "torch", "numpy") | models.having(Trait.JOINS, "torch", "numpy")
_STACKS = models.having(Trait.JOINS, "torch", "numpy")
_FILLS = models.having(Trait.FILLS, "torch", "numpy") | {
    f"{library}.{name}" for library in ("numpy", "torch") for name in ("arange", "linspace")
}

_FEW = regex(r"layer|head|ensemble|critic|level|stage|block|member|net|model|channel|stack|frame|task|seed")
"""Names of counts that are usually small."""


def consecutive_items(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `for t in range(n): place = start + t; rewards.append(episode["reward"][place])`, of whose lists
    arrays are made.
    """
    match loop:
        case ast.For(
            target=ast.Name(id=counter), iter=ast.Call(func=func, args=[_] | [_, _], keywords=[]), orelse=[]
        ) if model.names.qualified(func) == "builtins.range":
            moving = {counter}
        case _:
            return None
    kept: list[ast.Name] = []
    sources: list[ast.expr] = []
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_shifted(value, moving):
                moving.add(name)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() as target, attr="append"),
                    args=[ast.Subscript(value=source, slice=place)],
                    keywords=[],
                )
            ) if (
                _is_access(source) and not variable_names(source) & moving and _is_consecutive(place, moving)
            ):
                kept.append(target)
                sources.append(source)
            case _:
                return None
    if not kept or {target.id for target in kept} & {
        name for source in sources for name in variable_names(source)
    }:
        return None
    kinds = [model.types.type_of(source).tag for source in sources]
    if any(kind not in _ARRAYS and kind is not TypeTag.UNKNOWN for kind in kinds):
        return None
    if not any(made_into(target, model, _ARRAYS_OF) for target in kept):
        return None
    text = model.source.text(sources[0])
    return ItemLoop(
        sources[0],
        f"collects consecutive items of `{text}` one by one",
        f"Take a slice, which is one array already: `{text}[start : start + n]`",
        assumes=None if kinds[0] in _ARRAYS else f"`{text}` is an array",
    )


def consecutive_comprehension(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `np.array([sums[start + i] for i in range(n)])` of an array that is indexed with numbers."""
    match made:
        case ast.ListComp(
            elt=ast.Subscript(value=source, slice=place),
            generators=[
                ast.comprehension(
                    target=ast.Name(id=counter),
                    iter=ast.Call(func=func, args=[_] | [_, _]),
                    ifs=[],
                    is_async=0,
                )
            ],
        ) if model.names.qualified(func) == "builtins.range":
            pass
        case _:
            return None
    if not _is_access(source) or not _is_consecutive(place, {counter}) or counter in variable_names(source):
        return None
    if model.types.type_of(source).tag not in _ARRAYS:
        return None
    text = model.source.text(source)
    return ItemLoop(
        source,
        f"collects consecutive items of `{text}` one by one",
        f"Take a slice, which is one array already: `{text}[start : start + n]`",
    )


def equal_items(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `np.stack([np.arange(width) for _ in range(count)])`, which creates equal arrays."""
    match made:
        case ast.ListComp(
            elt=ast.Call(func=func) as value,
            generators=[
                ast.comprehension(
                    target=ast.Name(id=counter), iter=ast.Call(func=counts, args=[count]), ifs=[], is_async=0
                )
            ],
        ) if model.names.qualified(counts) == "builtins.range" and model.names.qualified(func) in _FILLS:
            pass
        case _:
            return None
    if counter in variable_names(value) or any(
        isinstance(node, ast.NamedExpr) for node in descendants(value)
    ):
        return None
    call = model.parent(made)
    if (
        not isinstance(call, ast.Call)
        or call.args[:1] != [made]
        or model.names.qualified(call.func) not in _STACKS
    ):
        return None
    if any(isinstance(node, ast.Call) and node is not value for node in descendants(value)):
        return None
    if _FEW.search((last_name(count) or "").lower()):
        return None
    text = model.source.text(func)
    is_torch = (model.names.qualified(func) or "").startswith("torch.")
    repeated = "`row.expand(n, -1)`" if is_torch else "`np.broadcast_to(row, (n, len(row)))`, `np.tile`"
    return ItemLoop(
        value,
        f"creates the same {'tensor' if is_torch else 'array'} with `{text}` for each row",
        f"Create it once and repeat it ({repeated})",
        paired=(count,),
    )


def _is_consecutive(place: ast.expr, moving: set[str]) -> bool:
    """Whether an index is the next one in each iteration, perhaps with invariant ones of other axes."""
    first, *others = axes_of(place)
    return _is_shifted(first, moving) and not any(variable_names(axis) & moving for axis in others)


def _is_shifted(value: ast.expr, moving: set[str]) -> bool:
    """Whether a value is the counter of a loop, or that plus something that stays the same."""
    match value:
        case ast.Name(id=name):
            return name in moving
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_is_shifted(left, moving) and not variable_names(right) & moving) or (
                _is_shifted(right, moving) and not variable_names(left) & moving
            )
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _is_shifted(left, moving) and not variable_names(right) & moving
    return False


def _is_access(value: ast.expr) -> bool:
    match value:
        case ast.Name():
            return True
        case ast.Attribute(value=owner) | ast.Subscript(value=owner, slice=ast.Constant() | ast.Name()):
            return _is_access(owner)
    return False
