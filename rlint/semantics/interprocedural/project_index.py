"""The project index: resolves access paths across files, and the effects of calls."""

from __future__ import annotations

from collections.abc import Iterable

from rlint.models.effect import Effect
from rlint.models.value_type import Type
from rlint.semantics.effects.indirect_runs import IndirectRuns
from rlint.semantics.effects.outside_reads import OutsideReads
from rlint.semantics.interprocedural.access_paths.function_effects import FunctionEffects
from rlint.semantics.interprocedural.access_paths.passed_arguments import PassedArguments
from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver
from rlint.semantics.interprocedural.external_changes.observed_names import ObservedNames
from rlint.semantics.interprocedural.external_changes.overwritten_names import OverwrittenNames
from rlint.semantics.interprocedural.external_changes.replaced_methods import ReplacedMethods
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import SymbolTable

PARTS = (
    "attribute_writes",
    "classes",
    "indirect_runs",
    "observed_names",
    "overwritten_names",
    "passed_arguments",
    "restored_classes",
)
"""The parts of the index that are queried directly. The others are queried through its methods."""


class ProjectIndex(SymbolTable):
    """Definitions, types and effects across the files of a project."""

    def __init__(self, modules: Iterable[ModuleSummary]) -> None:
        super().__init__(modules)
        replaced = ReplacedMethods(self)
        self.overwritten_names = OverwrittenNames(self)
        self.observed_names = ObservedNames(self, self.overwritten_names)
        self.passed_arguments = PassedArguments(self)
        self.indirect_runs = IndirectRuns(self)
        self._paths = PathResolver(self, self.passed_arguments, replaced)
        self.attribute_writes = self._paths.writes
        self.restored_classes = self._paths.restored
        self._effects = FunctionEffects(self, self._paths, replaced)
        self._outside_reads = OutsideReads(self)

    def resolve(self, path: str, module: str) -> Type:
        """Return the type at the end of an access path (`buffers.Replay().storage`), or UNKNOWN."""
        return self._paths.resolve(path, module)

    def callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run; empty if not all are known."""
        return self._paths.callables(path, module)

    def possible_callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run, as far as they are known: for a value of
        one of several classes, those of the known classes.
        """
        return self._paths.possible_callables(path, module)

    def parameter_kind(self, path: str, module: str, argument: str) -> Type:
        """Return the type that the functions at an access path declare, or show by its uses, for the
        parameter that receives an argument (its position or its name).
        """
        return self._paths.parameter_kind(path, module, argument)

    def returned(self, function: FunctionSummary) -> Type:
        """Return the return type of a function of the project."""
        return self._paths.returns.of_function(function)

    def returns_immutable(self, function: FunctionSummary) -> bool:
        """Whether every value that a function of the project may return is immutable."""
        return self._paths.returns.is_immutable(function)

    def attribute(self, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute, joined over the class and its bases, else over its subclasses."""
        return self._paths.attributes.type_of(cls, name)

    def holds_networks(self, name: str, *, in_networks: bool) -> bool:
        """Whether objects of the project, or only its networks, always hold networks in attributes of this
        name.
        """
        return self._paths.attributes.holds_networks(name, in_networks=in_networks)

    def holds_only_networks(self, name: str) -> bool:
        """Whether attributes of this name hold networks in all classes of the project where their type is
        known, and in at least one.
        """
        return self._paths.attributes.holds_only_networks(name)

    def effect_at(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling an access path; None if the project does not define it."""
        return self._effects.at_path(path, module)

    def effect_of(self, function: FunctionSummary) -> Effect:
        """Return the effect of calling a function of the project, including all that it calls."""
        return self._effects.of_function(function)

    def implicit_effect(self, cls: str, name: str) -> Effect:
        """Return the effect of reading a property of an object of a class (`name=`: of setting it), or of the
        special method that an operator runs on it; without effect if there is none.
        """
        return self._effects.implicit_effect(cls, name)

    @property
    def implicit_names(self) -> frozenset[str]:
        """Return the names of properties (with `=` for setters) and special methods of the project's classes
        that do more than return a value.
        """
        return self._effects.implicit_names

    def reads_variables(self, path: str, module: str) -> bool:
        """Whether a function that calling an access path may run, or one that it calls, reads variables of
        modules or other functions that may change.
        """
        return self._outside_reads.by_call(path, module)

    def is_changing_variable(self, path: str, module: str) -> bool:
        """Whether a dotted name means a variable of the project that may change."""
        return self._outside_reads.may_change(path, module)

    def forget_arguments(self) -> None:
        """Drop the recorded arguments and all results derived from them, before better ones are recorded."""
        self.passed_arguments.forget()
        self._paths.forget_unsettled()
        self._effects.forget()
