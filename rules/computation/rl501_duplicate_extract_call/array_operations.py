"""Whether a repeated expression only consists of operations on arrays, which take microseconds."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models

_OPERATIONS = (
    Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.REDUCES | Trait.SUMS | Trait.COMPARES | Trait.SAME_KIND
    | Trait.RESHAPES | Trait.KEEPS_VALUES | Trait.TO_NUMBER | Trait.LIMITS
)  # fmt: skip
_FUNCTIONS = models.having(_OPERATIONS, "numpy", "torch", "builtins")
_METHODS = models.having(_OPERATIONS, TypeTag.NDARRAY, TypeTag.TENSOR) | {"item"}
"""A second `item()` does not wait: the first has waited for the device."""
_MINOR = "repeats operations on arrays, which take microseconds unless the arrays are large"


def minor_reason(node: ast.expr, model: SemanticModel) -> str | None:
    """Return why repeating an expression costs little: all its calls are operations on arrays, tensors or
    numbers, while the rule was measured on answers that are extracted from texts. None otherwise.
    """
    calls = [inner for inner in (node, *descendants(node)) if isinstance(inner, ast.Call)]
    return _MINOR if calls and all(_is_operation(call, model) for call in calls) else None


def _is_operation(call: ast.Call, model: SemanticModel) -> bool:
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        return qualified in _FUNCTIONS
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _METHODS
        and not model.types.call_targets(call)
    )
