"""Definitions of a project that its scripts use, and options that they leave off."""

from __future__ import annotations

from functools import cached_property

from rlint.semantics.frequency.branches.option_choices import OptionChoice
from rlint.semantics.frequency.branches.option_defaults import OptionDefaults
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.mentions.reached_definitions import ReachedDefinitions
from rlint.semantics.interprocedural.mentions.uncalled_methods import UncalledMethods
from rlint.semantics.interprocedural.mentions.unselected_classes import UnselectedClasses
from rlint.semantics.interprocedural.mentions.unused_classes import UnusedClasses
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary


class ProgramUsage:
    """Answers whether the programs of a project use what they define."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._index = graph.index

    def is_unused(self, cls: ClassSummary) -> bool:
        """Whether no code of the project uses a class, though other files use other classes of its file."""
        return self._unused.includes(cls)

    def is_unreached(self, module: str, name: str) -> bool:
        """Whether no script of the project reaches a function or class at the top level of a module, though
        scripts reach others of its file, of its package, or of the folders beside that.
        """
        return not self._unused.reads_configurations and self._reached.misses(module, name)

    def is_loaded(self, module: str) -> bool:
        """Whether code that the scripts of the project reach imports a module, or runs it."""
        return self._reached.loads(module)

    def is_uncalled(self, method: FunctionSummary) -> bool:
        """Whether no code of the project calls a method, tests excluded, though scripts use its class or
        train without it.
        """
        return self._uncalled.include(method)

    def may_be_called_unseen(self, function: FunctionSummary) -> bool:
        """Whether code outside of the project may call a function: a package exports it or its class, or code
        looks up names that are known only at run time.
        """
        cls = self._index.owner_of(function)
        if cls is not None:
            return self._unused.may_be_used_unseen(cls)
        return self._unused.may_be_named(function.module, function.path)

    def is_overridden(self, method: FunctionSummary) -> bool:
        """Whether all classes of the project of which objects are created override a method."""
        return self._unused.is_overridden(method)

    def default_values(self, name: str, module: str) -> frozenset[object] | None:
        """Return the values that an option of the program has by default, if it is a switch that is off or a
        choice of strings; None if it may have others.
        """
        return self._options.values(name, module)

    def where_set(self, module: str) -> str:
        """Return in words where the options of the program of a module are set."""
        return self._options.where(module)

    def why_off(self, cls: ClassSummary) -> str:
        """Return why the program creates no object of a class by default; "" if it may create some."""
        return self._unselected.why(cls)

    def why_false(self, choice: OptionChoice, module: str) -> str:
        """Return why an option of the program of a module does not have a value by default; "" if it may have
        it.
        """
        return self._options.why_false(choice, module)

    @cached_property
    def _options(self) -> OptionDefaults:
        return OptionDefaults(self._graph)

    @cached_property
    def _reached(self) -> ReachedDefinitions:
        return ReachedDefinitions(self._index)

    @cached_property
    def _uncalled(self) -> UncalledMethods:
        return UncalledMethods(self._graph, self._unused, self._reached)

    @cached_property
    def _unselected(self) -> UnselectedClasses:
        return UnselectedClasses(self._index, self._unused, self._options)

    @cached_property
    def _unused(self) -> UnusedClasses:
        return UnusedClasses(self._index)
