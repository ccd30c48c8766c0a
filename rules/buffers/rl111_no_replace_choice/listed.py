"""Lists of all indices that are made to draw a few of them: `random.sample(list(range(n)), k)`, and ranges
that are shuffled to take the first.
"""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, frozen
from rlint.rules.buffers.rl111_no_replace_choice.random_orders import taken_of

_LISTS = ("builtins.list", "builtins.sorted")
_RANGES = ("builtins.range", "numpy.arange", "torch.arange")
_SAMPLES = "random.sample"
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")


@frozen
class ListedIndices:
    """The list `made` of `count` indices, of which code uses `size`."""

    made: ast.Call
    count: ast.expr
    size: ast.expr


def listed_to_draw(call: ast.Call, model: SemanticModel) -> ListedIndices | None:
    """Return the list of `random.sample(list(range(n)), k)`, or of a variable that holds it, and that of
    `np.random.shuffle(order)` if code reads nothing of `order` after it except `order[:k]`.
    """
    name = model.names.qualified(call.func)
    shuffles = name in _SHUFFLES or _is_shuffled_by_generator(call, model)
    size: ast.expr | None
    match call.args:
        case [indices, size] if name == _SAMPLES and not call.keywords:
            made = _created(indices, model)
        case [ast.Name() as indices] if shuffles:
            made = _created(indices, model)
            size = _first_taken(indices, model)
        case _:
            return None
    if made is None or size is None:
        return None
    is_list = shuffles or model.names.qualified(made.func) in _LISTS
    count = _count_of(made, model)
    return ListedIndices(made, count, size) if is_list and count is not None else None


def _created(indices: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that creates a list, in the same iteration as the draw."""
    if isinstance(indices, ast.Name):
        bindings = model.dataflow.definitions(indices)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
            return None
        made = bindings[0].value
        if made is None or model.function(made) is not model.function(indices):
            return None
        indices = made
    return indices if isinstance(indices, ast.Call) else None


def _count_of(made: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return `n` of `list(range(n))` and `np.arange(n)`."""
    name = model.names.qualified(made.func)
    match made.args:
        case [ast.Call() as inner] if name in _LISTS:
            return _count_of(inner, model) if model.names.qualified(inner.func) in _RANGES else None
        case [count] if name in _RANGES:
            return count
    return None


def _first_taken(shuffled: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return `k` if `order[:k]` is the only other use of a shuffled variable, and in the same iteration."""
    scope = model.names.scope(shuffled).lookup(shuffled.id)
    uses = model.names.uses(shuffled.id, scope) if scope is not None else ()
    others = [use for use in uses if isinstance(use.ctx, ast.Load) and use is not shuffled]
    if len(others) != 1 or model.frequency.loops(others[0]) != model.frequency.loops(shuffled):
        return None
    size: ast.expr | None = taken_of(others[0], model)
    return size


def _is_shuffled_by_generator(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is the `shuffle` of a generator: `rng.shuffle(order)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "shuffle":
        return False
    return model.types.type_of(call.func.value).tag is TypeTag.RANDOM_GENERATOR
