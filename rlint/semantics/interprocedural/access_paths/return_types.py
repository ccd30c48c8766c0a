"""The types that functions of the project return."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, with_choice
from rlint.semantics.interprocedural.access_paths.resolution_state import ResolutionState
from rlint.semantics.interprocedural.external_changes.replaced_methods import ReplacedMethods
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.symbols import SymbolTable
from rlint.semantics.types.algebra import completed, covers, is_immutable, refines

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver

_RETURN_ITSELF = models.having(Trait.RETURNS_SELF, TypeTag.MODULE)
_MOST_OVERRIDES = 12
_TENSOR = Choice(Type(TypeTag.TENSOR))


class ReturnTypes:
    """What functions and methods return, overriding methods included."""

    def __init__(
        self, symbols: SymbolTable, paths: PathResolver, state: ResolutionState, replaced: ReplacedMethods
    ) -> None:
        self._classes = symbols.classes
        self._paths = paths
        self._state = state
        self._replaced = replaced

    def of_function(self, function: FunctionSummary) -> Type:
        """Return the return type of a function of the project."""
        kind: Type | None = None
        for value in function.returns:
            returned = self._paths.resolved(value, function.module)
            kind = returned if kind is None else kind.joined(returned)
        if kind is None:
            return UNKNOWN
        if function.promised:
            kind = completed(kind, function.promised)
            kind = kind if refines(kind, function.promised) else function.promised
        if not kind:
            kind = UNKNOWN if kind.caveat is None else Type(caveat=kind.caveat)
        kind = self._paths.judged(kind, lambda: f"{function.shown}()")
        return kind.aged() if function.remembers else kind  # the next call may return it, too

    def of_method(self, function: FunctionSummary, owner: ClassSummary | None) -> Type:
        """Return the return type of a function called as a method of a class; doubtful if a derived class has
        a method of this name that returns another type.
        """
        kind = self.of_function(function)
        if not kind and owner is not None and not function.returns:
            return self._itself(function, owner) or self._returned_below(function, owner)
        if not kind:
            converts = function.makes_tensor_of and not kind.of
            return with_choice(kind, _TENSOR) if converts else kind
        if function.path in self._replaced.paths:
            return self._state.in_doubt(kind)
        if owner is None:
            return kind
        if self._paths.restored.is_restored(owner) or any(
            function.name in below.attributes for below in self._classes.subclasses(owner)
        ):
            return self._state.in_doubt(kind)
        for other in self._classes.implementations(owner, function.name):
            if other is not function and other.returns and not covers(kind, self.of_function(other)):
                return self._state.in_doubt(kind)
        return kind

    def _itself(self, function: FunctionSummary, owner: ClassSummary) -> Type:
        """Return the type of a network if a function overrides a method that returns the network itself, and
        returns a value of unknown type: that of `super().to(device)`.
        """
        if not function.returns_values or function.name not in _RETURN_ITSELF:
            return UNKNOWN
        kind = self._classes.class_kind(owner)
        return kind.aged() if kind.tag is TypeTag.MODULE else UNKNOWN

    def _returned_below(self, function: FunctionSummary, owner: ClassSummary) -> Type:
        """Return the likely return type of a method that only its overrides implement."""
        overriding = [each for each in self._classes.implementations(owner, function.name) if each.returns]
        if not overriding or len(overriding) > _MOST_OVERRIDES or function in overriding:
            return UNKNOWN
        joined = reduce(Type.joined, map(self.of_function, overriding)).aged()
        return with_choice(UNKNOWN, Choice(joined)) if joined else UNKNOWN

    def is_immutable(self, function: FunctionSummary) -> bool:
        """Whether every value that a function of the project may return is immutable."""
        types = [
            self._paths.resolve(kind.of, function.module) if not kind and kind.of else kind
            for kind in function.returns
        ]
        return bool(types) and all(map(is_immutable, types))
