"""Rows of arrays that are given to a function one by one, or flattened to lists of numbers."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, axes_of, vocabulary
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop, made_into

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_LISTS = frozenset({"builtins.list", "builtins.tuple"})


def rewarded_rows(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `for i in range(n): rewards[i] = env.compute_reward(got[i], goals[i], None)`. By convention,
    the method takes batches.
    """
    match loop:
        case ast.For(
            target=ast.Name(id=counter),
            body=[
                ast.Assign(
                    targets=[ast.Subscript(value=stored, slice=place)],
                    value=ast.Call(func=ast.Attribute(attr=method) as func, args=args, keywords=[]),
                )
            ],
        ) if method in vocabulary.REWARDS_OF_BATCHES:
            pass
        case _:
            return None
    rows = [argument for argument in args if _is_row(argument, counter)]
    if len(rows) < 2 or not _is_row(ast.Subscript(value=stored, slice=place), counter):
        return None
    if model.types.type_of(stored).tag not in _ARRAYS:
        return None
    text = model.source.text(func)
    return ItemLoop(
        stored,
        f"calls `{text}` for one row of the batch after the other",
        f"Call `{text}` once with all rows, if it takes batches, as environments with goals should",
        assumes=f"`{text}` takes batches",
    )


def flattened_rows(loop: ast.For | ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `for o in obs: rows.append(list(chain(*o)))`, of whose list an array is made, and the same as a
    comprehension.
    """
    match loop:
        case ast.For(
            target=ast.Name(id=item),
            iter=held,
            body=[
                ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name() as kept, attr="append"), args=[value])
                )
            ],
        ):
            if made_into(kept, model) is None:
                return None
        case ast.ListComp(
            elt=value, generators=[ast.comprehension(target=ast.Name(id=item), iter=held, ifs=[])]
        ):
            pass
        case _:
            return None
    if _chained(value, model) != item:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"flattens the arrays in `{text}` number by number",
        f"Convert once and reshape: `np.asarray({text}).reshape(len({text}), -1)`",
        assumes=f"the items of `{text}` contain arrays of one length",
    )


def _chained(value: ast.expr, model: SemanticModel) -> str:
    """Return `x` of `list(chain(*x))` and `list(chain.from_iterable(x))`."""
    match value:
        case ast.Call(func=func, args=[ast.Call(func=inner, args=[ast.Starred(value=ast.Name(id=name))])]):
            is_chain = model.names.qualified(inner) == "itertools.chain"
        case ast.Call(func=func, args=[ast.Call(func=inner, args=[ast.Name(id=name)])]):
            is_chain = model.names.qualified(inner) == "itertools.chain.from_iterable"
        case _:
            return ""
    return name if is_chain and model.names.qualified(func) in _LISTS else ""


def _is_row(value: ast.expr, counter: str) -> bool:
    match value:
        case ast.Subscript(slice=index):
            return any(isinstance(part, ast.Name) and part.id == counter for part in axes_of(index))
    return False
