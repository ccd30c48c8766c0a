"""Methods of library classes that classes of the project override."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rlint import models
from rlint.models import vocabulary
from rlint.models.value_type import Type, TypeTag, alternatives

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import ClassSummary
    from rlint.semantics.interprocedural.symbols import SymbolTable

_BASES = {TypeTag.TENSOR: "torch.Tensor", TypeTag.NDARRAY: "numpy.ndarray"}
"""The classes of values whose types do not name one."""


class Overriding:
    """Methods inherited from libraries that classes of the project override."""

    def __init__(self, definitions: SymbolTable) -> None:
        self._definitions = definitions
        self._known: dict[tuple[Type, tuple[str, ...]], bool] = {}

    def may_override(self, kind: Type, methods: tuple[str, ...]) -> bool:
        """Whether an object of this type may be of a project class that defines one of these methods itself,
        or has an unknown base, which may define it.
        """
        key = kind, methods
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(kind, frozenset(methods))
        return known

    def _find(self, kind: Type, methods: frozenset[str]) -> bool:
        if "{" in kind.of:
            return any(self._find(kind._replace(of=each), methods) for each in alternatives(kind.of))
        cls = self._definitions.class_of(kind)
        if cls is not None:
            concerned = [cls, *self._definitions.subclasses(cls)]
            return any(self._has_own(each, methods) or self._unknown_bases(each) for each in concerned)
        every = (each for module in self._definitions.modules.values() for each in module.classes.values())
        return any(self._has_own(each, methods) and self._may_be(each, kind) for each in every)

    def _has_own(self, cls: ClassSummary, methods: frozenset[str]) -> bool:
        return any(
            not isinstance(each, str)
            and (not methods.isdisjoint(each.methods) or not methods.isdisjoint(each.attributes))
            for each in self._definitions.ancestry(cls)
        )

    def _may_be(self, cls: ClassSummary, kind: Type) -> bool:
        """Whether objects of a class of the project may have a library type."""
        if not kind or self._definitions.class_kind(cls).tag is kind.tag:
            return True
        bases = [each for each in self._definitions.ancestry(cls) if isinstance(each, str)]
        if kind.tag in _BASES:  # classes with items and unknown bases are hardly ever tensors
            return _BASES[kind.tag] in bases
        return kind.of in bases or self._unknown_bases(cls)

    def _unknown_bases(self, cls: ClassSummary) -> bool:
        return any(isinstance(each, str) and not _is_known(each) for each in self._definitions.ancestry(cls))


def _is_known(base: str) -> bool:
    head = base.partition(".")[0]
    return (
        base in vocabulary.NEUTRAL_BASES
        or head in sys.stdlib_module_names
        or head == "builtins"
        or base.startswith("torch.")
        or models.callable_fact(base) is not None
    )
