"""Calls that cost about as much as storing their result would."""

from __future__ import annotations

from rlint.models.by_trait import CALLABLES, METHODS
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag

_CHEAP_PREFIXES = ("math.", "os.path.", "operator.", "typing.", "torch.distributed.", "itertools.")


def is_cheap(qualified: str) -> bool:
    """Whether a call is so cheap that repeating it is not worth a finding."""
    fact = CALLABLES.get(qualified)
    if fact is not None and fact.traits & (Trait.CHEAP | Trait.QUERIES_FILES):
        return not fact.traits & Trait.QUERIES_FILES
    if qualified.endswith("Config"):
        return True  # a settings object (`ExprExtractionConfig()`), created where it is passed
    return qualified.startswith(_CHEAP_PREFIXES)


def is_cheap_method(tag: TypeTag, method: str) -> bool:
    """Whether a method of such a value is so cheap that repeating it is not worth a finding."""
    fact = METHODS.get(tag, {}).get(method)
    return fact is not None and bool(fact.traits & Trait.CHEAP)
