"""The row and column of a single flat index."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel
from rlint.rules.computation.rl508_numpy_on_scalar.scalar_calls import Scalar, is_single

_FLAT = "numpy.unravel_index"
FLAT = frozenset({"unravel_index"})
_VIEWS = {"items": (0,), "keys": ()}
"""Methods of dicts, with the place of the key in what they yield."""


def flat_index(call: ast.Call, model: SemanticModel) -> tuple[Scalar, ast.expr | None] | None:
    """Handle `np.unravel_index(action, board.shape)` of one number, and return it with the index if only its
    use as a key of a dict shows that it is no array.
    """
    if model.names.qualified(call.func) != _FLAT or not call.args or not model.frequency.loops(call):
        return None
    index = call.args[0]
    is_sure = is_single(index, model)
    if not is_sure and not _is_key(index, model):
        return None
    return Scalar(call, (index,), "divmod(index, columns)", None, ufunc=True), None if is_sure else index


def _is_key(index: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable is a key of a dict, over which a loop iterates: an array cannot be one."""
    if not isinstance(index, ast.Name):
        return False
    bindings = model.dataflow.definitions(index)
    if len(bindings) != 1 or bindings[0].kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return False
    match bindings[0].value:
        case ast.Call(func=ast.Attribute(attr=method), args=[], keywords=[]):
            return _VIEWS.get(method) == bindings[0].path
    return False
