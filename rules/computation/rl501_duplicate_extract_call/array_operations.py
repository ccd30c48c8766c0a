"""Whether a repeated expression only consists of operations on arrays, which take microseconds."""

from __future__ import annotations

import ast

from rlint.rule import Driver, SemanticModel, Trait, TypeTag, descendants, models
from rlint.rules.computation._shared import worth

_OPERATIONS = (
    Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.REDUCES | Trait.SUMS | Trait.COMPARES | Trait.SAME_KIND
    | Trait.RESHAPES | Trait.KEEPS_VALUES | Trait.TO_NUMBER | Trait.LIMITS
)  # fmt: skip
_FUNCTIONS = models.having(_OPERATIONS, "numpy", "torch", "builtins")
_METHODS = models.having(_OPERATIONS, TypeTag.NDARRAY, TypeTag.TENSOR) | {"item"}
"""A second `item()` does not wait: the first has waited for the device."""
_REDUCTIONS = models.having(Trait.REDUCES, TypeTag.NDARRAY)
_FEW_DIMENSIONS = 3
"""Environments, agents and features."""
MINOR = "repeats operations on arrays, which take microseconds unless the arrays are large"
_MINOR_CODE = "the gain was measured on texts of language models; few calls of other programs take as long"


def minor_reason(node: ast.expr, model: SemanticModel) -> str | None:
    """Return why repeating an expression costs little: all its calls are operations on arrays, tensors or
    numbers, or the program processes no text, while the rule was measured on answers that are extracted from
    texts. None otherwise.
    """
    calls = [inner for inner in (node, *descendants(node)) if isinstance(inner, ast.Call)]
    if not calls or any(
        worth.copies_to_device(call, model) or worth.copies_to_host(call, model) for call in calls
    ):
        return None
    if all(_is_operation(call, model) for call in calls):
        return MINOR
    return None if model.program.uses_language_models() else _MINOR_CODE


def is_of_one_step(node: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression only computes with numpy on the small arrays of an environment step, such as the
    flags of all environments. Arrays with many dimensions may be images, which are not small.
    """
    calls = [inner for inner in (node, *descendants(node)) if isinstance(inner, ast.Call)]
    if not calls or not all(_is_on_host(call, model) for call in calls):
        return False
    cadence = model.frequency.cadence(node)
    return cadence is not None and Driver.ENVIRONMENT_STEP in cadence.drivers


def _is_on_host(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is an operation of numpy, or a reduction of an array of unknown type."""
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        given = call.args[0] if call.args else None
        return (
            qualified in _FUNCTIONS
            and qualified.startswith("numpy.")
            and (given is None or not _is_image(given, model))
        )
    if not isinstance(call.func, ast.Attribute) or not _is_operation(call, model):
        return False
    kind = model.types.type_of(call.func.value)
    if not kind:
        return call.func.attr in _REDUCTIONS
    return kind.tag is TypeTag.NDARRAY and not _is_image(call.func.value, model)


def _is_image(node: ast.expr, model: SemanticModel) -> bool:
    rank = model.types.type_of(node).rank
    return rank is not None and rank > _FEW_DIMENSIONS


def _is_operation(call: ast.Call, model: SemanticModel) -> bool:
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        return qualified in _FUNCTIONS
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _METHODS
        and not model.types.call_targets(call)
    )
