"""Generator functions whose code does more than compute the items that they yield."""

from __future__ import annotations

from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary

_OWN = EffectKind.READS | EffectKind.OTHER
"""Effects of all generators: each is suspended where it yields."""


def may_act(index: ProjectIndex) -> bool:
    """Whether iterating over a generator of the project may change a value that other code holds."""
    return any(
        _acts(function)
        for module in index.modules.values()
        if not module.is_test
        for function in module.functions.values()
        if any(kind.tag is TypeTag.ITERATOR for kind in function.returns)
    )


def _acts(function: FunctionSummary) -> bool:
    return bool(function.effect.kind & ~_OWN or function.effect_paths)
