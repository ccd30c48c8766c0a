"""Arrays that Python pairs element by element to make one array of them."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, models
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_MAKES = models.having(Trait.FROM_DATA | Trait.JOINS, "numpy", "torch")
_LISTS = frozenset({"builtins.list", "builtins.tuple"})


def zipped_arrays(call: ast.Call, model: SemanticModel) -> ItemLoop | None:
    """Return the pairs of `np.stack(zip(low, high))` or `np.array(list(zip(low, high)))`, of arrays."""
    name = model.names.qualified(call.func)
    if name not in _MAKES or not call.args:
        return None
    pairs = call.args[0]
    match pairs:
        case ast.Call(func=func, args=[inner], keywords=[]) if model.names.qualified(func) in _LISTS:
            pairs = inner
        case ast.List(elts=[ast.Starred(value=inner)]) | ast.Tuple(elts=[ast.Starred(value=inner)]):
            pairs = inner
    match pairs:
        case ast.Call(func=func, args=[first, _, *_] as arrays, keywords=[]):
            if model.names.qualified(func) != "builtins.zip":
                return None
        case _:
            return None
    if not all(_is_array(array, model) for array in arrays):
        return None
    library = "torch.stack" if model.types.type_of(first).tag is TypeTag.TENSOR else "np.stack"
    dimension = "dim" if library == "torch.stack" else "axis"
    texts = ", ".join(model.source.text(array) for array in arrays)
    return ItemLoop(
        first,
        f"makes an array of `{model.source.text(pairs)}`, which pairs the elements one by one,",
        f"Stack the arrays: `{library}(({texts}), {dimension}=1)`",
        sized=True,
    )


def _is_array(array: ast.expr, model: SemanticModel) -> bool:
    kind = model.types.type_of(array)
    return kind.tag in _ARRAYS and kind.rank != 0 and not isinstance(array, ast.Starred)
