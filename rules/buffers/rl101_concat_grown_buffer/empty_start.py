"""The initial value of a growing array: whether other code can write to it meanwhile."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, Binding, EscapeLevel, Scope, SemanticModel, Trait, descendants, models

REASON = "no other reference to `{name}` may write to it while the loop runs"
_OF_A_SIZE = models.names_having(Trait.FILLS | Trait.DRAWS_SHAPE, "torch", "numpy", "numpy.random") - {
    "randint",
    "randperm",
}
_OF_VALUES = models.names_having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")


def is_own(start: Binding, name: str, loop: AnyLoop, scope: Scope, model: SemanticModel) -> bool:
    """Whether the array is new, and not held by other code while the loop runs, or has no elements to write
    to.
    """
    value, statement = start.value, start.statement
    if start.path or not isinstance(value, ast.Call) or not model.types.type_of(value).fresh:
        return False
    if has_no_elements(value, model):
        return True
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return False
    inside = set(descendants(loop))
    return all(
        node in inside
        or model.span_of(node)[0] > model.span_of(loop)[0]
        or model.dataflow.use_of(node).escape_level is EscapeLevel.READ
        for node in model.names.reads(name, scope)
    )


def has_no_elements(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an expression is `np.empty((0, 4))`, `torch.empty(0, 4)`, `np.array([])`."""
    module, _, function = (model.names.qualified(call.func) or "").rpartition(".")
    if module not in ("numpy", "torch") or not call.args:
        return False
    first = call.args[0]
    if function in _OF_VALUES:
        return isinstance(first, (ast.List, ast.Tuple)) and not first.elts
    if function not in _OF_A_SIZE:
        return False
    if isinstance(first, (ast.List, ast.Tuple)):
        return any(is_zero(size) for size in first.elts)
    return any(map(is_zero, call.args if module == "torch" and function != "full" else [first]))


def is_zero(size: ast.expr) -> bool:
    """Whether an expression is the number 0."""
    return isinstance(size, ast.Constant) and size.value == 0
