"""Arrays that Python's `sum`, `max` or `min` iterates over."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, regex
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

REDUCTIONS = {"builtins.sum": "sum", "builtins.max": "max", "builtins.min": "min"}
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_OF_FEW = regex(
    r"reward|done|term|trunc|info|score|shape|size|(^|_)r($|_)|count|visit|prob|logit|polic|q_?val|nvec"
    r"|lengths$|episode|bound|range"
)
"""Names of arrays with one number per environment, episode or action."""


def reduced_array(call: ast.Call, model: SemanticModel) -> ItemLoop | None:
    """Return what `sum(weights)` does, if `weights` surely is an array or tensor with many elements."""
    method = REDUCTIONS.get(model.names.qualified(call.func) or "")
    if method is None or len(call.args) != 1 or call.keywords:
        return None
    array = call.args[0]
    kind = model.types.type_of(array)
    if kind.tag not in _ARRAYS or kind.optional or kind.rank == 0:
        return None
    text = model.source.text(array)
    if _OF_FEW.search(text.lower()):
        return None
    axis = "0" if kind.rank != 1 and method == "sum" else ""
    does = f"iterates over `{text}` element by element"
    return ItemLoop(array, does, f"Reduce the array in one call: `{text}.{method}({axis})`")
