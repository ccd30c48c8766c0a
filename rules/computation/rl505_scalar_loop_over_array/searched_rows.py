"""Comprehensions that search the rows of a batch one by one."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, models, regex
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_PLACES = frozenset({"numpy.nonzero", "numpy.flatnonzero", "numpy.where", "numpy.argwhere"})
_FROM_DATA = models.having(Trait.FROM_DATA, "numpy") | {"builtins.list"}
_CONVERSIONS = models.having(Trait.KEEPS_ORDER | Trait.KEEPS_VALUES | Trait.TO_HOST, TypeTag.NDARRAY) | {
    "astype",
    "tolist",
}
_OF_MANY = regex(
    r"batch|sample|size|transition|candidate|particle|popul|game|episode|trajector|rollout|path|root"
)
"""Names of numbers that usually are large."""
_HELD = frozenset({TypeTag.NDARRAY, TypeTag.LIST, TypeTag.UNKNOWN})


def places_by_row(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[np.nonzero(mask[j])[0].tolist() for j in range(batch_size)]`."""
    clause = _only_clause(made, model)
    if clause is None or not isinstance(clause.target, ast.Name):
        return None
    match _unconverted(made.elt, model):
        case ast.Call(
            func=func,
            args=[ast.Subscript(value=ast.Name() | ast.Attribute() as held, slice=ast.Name(id=name))],
        ) if name == clause.target.id:
            pass
        case _:
            return None
    if model.names.qualified(func) not in _PLACES or model.types.type_of(held).tag not in _HELD:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"searches `{text}` row by row",
        f"Search all rows at once: `rows, columns = np.nonzero({text})`, and where a list is needed, "
        "`np.split(columns, np.cumsum(np.bincount(rows, minlength=n))[:-1])`",
    )


def scanned_places(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[np.where(indices == i)[0][0] for i in drawn]`, which scans an array for each item."""
    match made.generators:
        case [ast.comprehension(target=ast.Name(id=item), ifs=[], is_async=0)]:
            pass
        case _:
            return None
    match made.elt:
        case ast.Call(func=ast.Name(id="int"), args=[number], keywords=[]):
            found = _unconverted(number, model)
        case element:
            found = _unconverted(element, model)
    while isinstance(found, ast.Subscript) and isinstance(found.slice, ast.Constant):
        found = _unconverted(found.value, model)
    match found:
        case ast.Call(
            func=func,
            args=[
                ast.Compare(
                    left=ast.Name() | ast.Attribute() as held, ops=[ast.Eq()], comparators=[ast.Name(id=name)]
                )
            ],
            keywords=[],
        ) if name == item and model.names.qualified(func) in _PLACES | {"numpy.argmax"}:
            pass
        case _:
            return None
    if (isinstance(held, ast.Name) and held.id == item) or model.types.type_of(held).tag not in _HELD:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"searches all of `{text}` again for each item",
        f"Search all items at once, in a sorted array (`np.searchsorted({text}, items)`), or keep the places "
        "when they are drawn",
    )


def _only_clause(made: ast.ListComp, model: SemanticModel) -> ast.comprehension | None:
    """Return the clause of a comprehension with one item for each number up to one that likely is large."""
    match made.generators:
        case [
            ast.comprehension(
                iter=ast.Call(func=func, args=[count], keywords=[]), ifs=[], is_async=0
            ) as clause
        ] if model.names.qualified(func) == "builtins.range":
            is_large = isinstance(count, ast.Constant) or _OF_MANY.search(model.source.text(count).lower())
            return clause if is_large and not isinstance(count, ast.BinOp) else None
    return None


def _unconverted(value: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what an expression converts: `np.nonzero(x)` for `np.nonzero(x)[0].tolist()`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if (
                method in _CONVERSIONS and isinstance(inner, (ast.Call, ast.Subscript))
            ):
                value = inner
            case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) in _FROM_DATA:
                value = inner
            case ast.Subscript(value=ast.Call() as inner, slice=ast.Constant(value=0)):
                value = inner
            case _:
                return value
