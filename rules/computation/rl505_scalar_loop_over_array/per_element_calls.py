"""Calls of a Python function for each element, by a function of NumPy that only loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, TypeTag
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

WRAPPERS = frozenset({"numpy.vectorize", "numpy.frompyfunc"})
LOOPS_OVER = frozenset({"numpy.apply_along_axis"})
_LIBRARIES = ("numpy.", "torch.", "math.", "scipy.")
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL})


def calls_per_element(call: ast.Call, model: SemanticModel) -> Iterator[tuple[ast.Call, ItemLoop]]:
    """Yield the calls that run a Python function for each element of an array, given the call of
    `np.vectorize` that wraps the function, or of `np.apply_along_axis`.
    """
    name = model.names.qualified(call.func)
    if name in LOOPS_OVER and len(call.args) > 2 and _is_of_project(call.args[0], model):
        yield call, _described(call.args[2], call.args[0], "row", model)
    if name not in WRAPPERS or not call.args or not _is_of_project(call.args[0], model):
        return
    for used in _calls_of(call, model):
        if used.args and model.types.type_of(used.args[0]).tag not in _NUMBERS:
            yield used, _described(used.args[0], call.args[0], "element", model)


def _is_of_project(function: ast.expr, model: SemanticModel) -> bool:
    """Whether a function is written in Python."""
    if isinstance(function, ast.Lambda):
        return True
    name = model.names.qualified(function) or ""
    return model.types.type_of(function).tag is TypeTag.FUNCTION and not name.startswith(_LIBRARIES)


def _calls_of(wrapped: ast.Call, model: SemanticModel) -> Iterator[ast.Call]:
    around = model.parent(wrapped)
    match around:
        case ast.Call(func=func) if func is wrapped:
            yield around
        case ast.Assign(targets=[ast.Name() as name], value=value) if value is wrapped:
            for read in model.names.reads(name.id, model.names.scope(name)):
                used = model.parent(read)
                if isinstance(used, ast.Call) and used.func is read:
                    yield used


def _described(held: ast.expr, function: ast.expr, item: str, model: SemanticModel) -> ItemLoop:
    text = model.source.text(function) if not isinstance(function, ast.Lambda) else "lambda"
    return ItemLoop(
        held,
        f"calls `{text}` once for each {item}",
        "Compute with the whole array: operators, `np.where` for conditions, an index array for look-ups",
        sized=True,
    )
