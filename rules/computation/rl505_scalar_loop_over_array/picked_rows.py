"""Lists with one element of each row of an array, distributions over rows, and copies through lists."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, axes_of, models
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop
from rlint.rules.computation.rl505_scalar_loop_over_array.joined_items import becomes_tensor, unbound_rows

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_ARRAYS_OF = models.having(Trait.FROM_DATA, "torch", "numpy")
_REDUCTIONS = models.having(Trait.REDUCES | Trait.GIVES_INDEX, "numpy")
_LISTS = frozenset({"builtins.list", "builtins.tuple"})


def picked_by_row(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `torch.stack([values[i, actions[i]] for i in range(n)])`, and `[values[i][a] for i, a in
    enumerate(actions)]`, which index an array once per row.
    """
    clause = made.generators[0]
    if len(made.generators) != 1 or clause.ifs or clause.is_async:
        return None
    index = ""
    count: ast.expr | None = None
    match clause.target, clause.iter:
        case ast.Name(id=counter), ast.Call(func=func, args=[count], keywords=[]) if (
            model.names.qualified(func) == "builtins.range"
        ):
            pass
        case ast.Tuple(elts=[ast.Name(id=counter), ast.Name(id=index)]), ast.Call(func=func, args=[_]) if (
            model.names.qualified(func) == "builtins.enumerate"
        ):
            pass
        case _:
            return None
    held, places = _indexed(made.elt)
    if held is None or len(places) != 2 or not _is_name(places[0], counter):
        return None
    if not (_is_row(places[1], counter) or (index and _is_name(places[1], index))):
        return None
    if model.types.type_of(held).tag not in _ARRAYS or not _becomes_array(made, model):
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"takes one element of each row of `{text}`",
        f"Index all rows at once: `{text}[torch.arange(n), indices]`, or `{text}.gather(1, indices)`",
        rows=count if isinstance(count, (ast.Name, ast.Attribute)) else held,
    )


def distributions_of_rows(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[Normal(m, s) for m, s in zip(means.unbind(), stds.unbind())]`."""
    clause = made.generators[0]
    if len(made.generators) != 1 or clause.ifs or clause.is_async:
        return None
    if model.types.type_of(made.elt).tag is not TypeTag.DISTRIBUTION:
        return None
    rows = list(unbound_rows(clause.iter, model))
    if not rows:
        return None
    text = model.source.text(rows[0])
    return ItemLoop(
        rows[0],
        f"creates a distribution for each row of `{text}`",
        "Create one distribution of the whole tensors: it samples, and computes log-probabilities and "
        "divergences, of all rows at once",
    )


def through_list(call: ast.Call, model: SemanticModel) -> ItemLoop | None:
    """Handle `np.array(list(weights))`, `np.array(list(weights)[:n])` and `np.argmax([w for w in weights])`,
    of an array.
    """
    if model.names.qualified(call.func) not in _ARRAYS_OF | _REDUCTIONS or not call.args:
        return None
    match call.args[0]:
        case ast.ListComp(
            elt=ast.Name(id=item),
            generators=[
                ast.comprehension(
                    target=ast.Name(id=name), iter=ast.Name() | ast.Attribute() as array, ifs=[]
                )
            ],
        ) if name == item:
            return _copied(array, model)
        case (ast.Call() as given) | ast.Subscript(value=ast.Call() as given, slice=ast.Slice()):
            pass
        case _:
            return None
    match given:
        case ast.Call(func=func, args=[held], keywords=[]) if model.names.qualified(func) in _LISTS:
            pass
        case _:
            return None
    return _copied(held, model)


def _copied(held: ast.expr, model: SemanticModel) -> ItemLoop | None:
    kind = model.types.type_of(held)
    if kind.tag not in _ARRAYS or kind.optional or kind.rank == 0:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"copies `{text}` through a list, element by element",
        f"Leave out the list, and use `{text}` itself or `{text}[:n].copy()`",
    )


def _becomes_array(made: ast.ListComp, model: SemanticModel) -> bool:
    match model.parent(made):
        case ast.Call(func=func, args=[first, *_]) if first is made:
            if model.names.qualified(func) in _ARRAYS_OF:
                return True
    joined: bool = becomes_tensor(made, model)
    return joined


def _indexed(element: ast.expr) -> tuple[ast.expr | None, list[ast.expr]]:
    """Return the array of `x[i, j]` or `x[i][j]`, and its indices."""
    places: list[ast.expr] = []
    held = element
    while isinstance(held, ast.Subscript):
        places[:0] = axes_of(held.slice)
        held = held.value
    return (held if isinstance(held, (ast.Name, ast.Attribute)) else None), places


def _is_name(place: ast.expr, name: str) -> bool:
    return isinstance(place, ast.Name) and place.id == name


def _is_row(place: ast.expr, counter: str) -> bool:
    """Whether an index is that of the same row: `actions[i]`, `actions[i].item()`, `int(actions[i])`."""
    match place:
        case ast.Subscript(value=ast.Name() | ast.Attribute(), slice=index):
            return _is_name(axes_of(index)[0], counter)
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]):
            return _is_row(inner, counter)
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _is_row(inner, counter)
    return False
