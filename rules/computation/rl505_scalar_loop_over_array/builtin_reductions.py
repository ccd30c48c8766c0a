"""Arrays that Python's `sum`, `max` or `min` iterates over."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, descendants, regex
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop
from rlint.rules.computation.rl505_scalar_loop_over_array.independent_items import independent_comprehension

REDUCTIONS = {"builtins.sum": "sum", "builtins.max": "max", "builtins.min": "min"}
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_OF_FEW = regex(
    r"reward|done|term|trunc|info|score|shape|size|(^|_)r($|_)|count|visit|prob|logit|polic|q_?val|nvec"
    r"|lengths$|episode|bound|range"
)
"""Names of arrays with one number per environment, episode or action."""


def _iterated(argument: ast.expr, method: str, model: SemanticModel) -> tuple[ast.expr, bool]:
    """Return the array that an argument iterates over, directly or by a generator of its unchanged elements
    (`min(x for x in scan)`), and whether a generator selects or counts some of them (`sum(1 for x in scan if
    x > 0)`).
    """
    selects = False
    match argument:
        case ast.ListComp(elt=item, generators=[each]) | ast.GeneratorExp(elt=item, generators=[each]) if (
            isinstance(each.target, ast.Name) and not each.is_async
        ):
            name = each.target.id
            selects = bool(each.ifs)
            is_item = isinstance(item, ast.Name) and item.id == name
            counts = method == "sum" and (
                (selects and isinstance(item, ast.Constant) and item.value == 1)
                or isinstance(item, ast.Compare)
            )
            selects = selects or counts
            tests = [*each.ifs, *([] if is_item else [item])]
            if not (is_item or counts) or not all(_is_plain(test, name) for test in tests):
                return argument, False
            argument = each.iter
    match argument:
        case ast.Attribute(value=whole, attr="flat"):
            return whole, selects
        case ast.Call(func=ast.Attribute(value=whole, attr="ravel" | "flatten"), args=[]):
            return whole, selects
        case ast.Call(func=func, args=[whole]) if model.names.qualified(func) == "numpy.nditer":
            return whole, selects
    return argument, selects


def _is_plain(test: ast.expr, name: str) -> bool:
    """Whether a condition compares an element with values that do not depend on it."""
    parts = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Name, ast.Attribute, ast.Constant)
    inside = [node for node in descendants(test) if isinstance(node, ast.expr)]
    return all(isinstance(node, parts) for node in inside) and not any(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
        for node in inside
    )


def _is_drawn(array: ast.expr, model: SemanticModel) -> bool:
    """Whether an array is the part of another that an array of indices selects: `rewards[drawn]`."""
    if not isinstance(array, ast.Subscript):
        return False
    index = model.types.type_of(array.slice)
    return index.tag in _ARRAYS and index.rank != 0


def reduced_array(call: ast.Call, model: SemanticModel) -> ItemLoop | None:
    """Return what `sum(weights)` does, if `weights` surely is an array or tensor with many elements."""
    method = REDUCTIONS.get(model.names.qualified(call.func) or "")
    if method is None or len(call.args) != 1 or call.keywords:
        return None
    array, condition = _iterated(call.args[0], method, model)
    given = call.args[0]
    is_argument = array is given
    kind = model.types.type_of(array)
    if kind.tag not in _ARRAYS or (kind.optional and is_argument) or kind.rank == 0:
        return None
    text = model.source.text(array)
    if _OF_FEW.search(text.lower()) and not _is_drawn(array, model):
        return None
    if isinstance(given, (ast.ListComp, ast.GeneratorExp)) and independent_comprehension(given, model):
        return None  # reported as what the comprehension computes
    if condition:
        does = f"tests `{text}` element by element"
        return ItemLoop(array, does, f"Compare the whole array: `np.count_nonzero({text} > limit)` to count")
    axis = "0" if kind.rank != 1 and method == "sum" else ""
    does = f"iterates over `{text}` element by element"
    return ItemLoop(array, does, f"Reduce the array in one call: `{text}.{method}({axis})`")
