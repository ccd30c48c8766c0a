"""Modules, functions and classes whose variables or code other files read as data."""

from __future__ import annotations

from functools import cached_property

from rlint.semantics.effects.namespace_writes import may_be_module
from rlint.semantics.interprocedural.external_changes.overwritten_names import OverwrittenNames
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import SymbolTable


class ObservedNames:
    """The definitions for which it makes a difference which variables they have."""

    def __init__(self, symbols: SymbolTable, overwritten: OverwrittenNames) -> None:
        self._symbols = symbols
        self._overwritten = overwritten

    def is_observed(self, *paths: str) -> bool:
        """Whether a file, without tests, iterates over the variables of one of some modules, or reads the
        code object of one of some functions or classes.
        """
        return not self._observed.isdisjoint(paths)

    @cached_property
    def _observed(self) -> frozenset[str]:
        found: set[str] = set()
        for module in self._symbols.modules.values():
            for path in () if module.is_test else module.observed:
                found.update(each for each in self._symbols.modules if may_be_module(path, each))
                found.update(self._overwritten.passed_as(path))
                symbol = self._symbols.symbol(path, module.module)
                if isinstance(symbol, ModuleSummary):
                    found.add(symbol.module)
                elif isinstance(symbol, (ClassSummary, FunctionSummary)):
                    found.add(symbol.path)
                else:
                    found.add(path)
        return frozenset(found)
