"""Attributes that hold networks because functions read their weights."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.access_paths.resolution_state import ResolutionState
from rlint.semantics.interprocedural.summary import ClassSummary
from rlint.semantics.interprocedural.symbols import SymbolTable

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver


class WeightPassing:
    """The attributes that classes pass to functions of the project which read weights."""

    def __init__(self, symbols: SymbolTable, paths: PathResolver, state: ResolutionState) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._paths = paths
        self._state = state
        self._passing_weights: dict[tuple[str, str], bool] = {}
        self._finds_weight_readers = False  # does the current resolution look for readers of weights?

    def is_passed(self, cls: ClassSummary, name: str) -> bool:
        """Whether a class passes an attribute to functions of the project that read its weights:
        `self.soft_update(self.critic, self.critic_target)`. To find these functions, attributes are resolved
        without this evidence: it would lead from each attribute of a class to all others, along all paths.
        """
        key = (cls.path, name)
        if key not in self._passing_weights:
            if self._finds_weight_readers:
                self._state.unsettled = True
                return False
            unsettled, self._finds_weight_readers = self._state.unsettled, True
            try:
                self._passing_weights[key] = self._is_passed_to_weight_readers(cls, name)
            finally:  # rules go on after an error, such as one of recursion
                self._state.unsettled, self._finds_weight_readers = unsettled, False
        return self._passing_weights[key]

    def _is_passed_to_weight_readers(self, cls: ClassSummary, name: str) -> bool:
        module = self._symbols.modules[cls.module]
        for method in cls.methods:
            function = module.functions.get(f"{cls.qualname}.{method}")
            for site in function.calls if function is not None else ():
                place = next((place for place, passed in site.names if passed == name), None)
                called = (
                    self._paths.callables(site.path, cls.module) if place is not None and site.path else []
                )
                if called and all(each.parameter_at(place or "") in each.weights_read for each in called):
                    return True
        return False

    @cached_property
    def only_networks_have_parameters(self) -> bool:
        """Whether every class of the project that has a method `parameters` is a network."""
        return all(
            self._classes.class_kind(cls).tag is TypeTag.MODULE
            for module in self._symbols.modules.values()
            for cls in module.classes.values()
            if "parameters" in cls.methods
        )
