"""Whether a file may handle arrays, beside tensors."""

from __future__ import annotations

from rlint.rule import SemanticModel

_OF_ARRAYS = frozenset({"numpy", "jax", "pandas"})
"""Libraries whose arrays and scalars have methods of tensors, such as `item`, and the same indices."""


def imports_arrays(model: SemanticModel) -> bool:
    """Whether a file imports a library of arrays."""
    return any(path.partition(".")[0] in _OF_ARRAYS for path in model.module.imports.values())
