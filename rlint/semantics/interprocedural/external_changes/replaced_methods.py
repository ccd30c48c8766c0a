"""Functions and methods of a project that other code replaces while the program runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rlint.semantics.effects.namespace_writes import ANY_MODULE, ANY_NAME, may_be_module
from rlint.semantics.interprocedural.summary import ANY_CLASS, ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import SymbolTable


class ReplacedMethods:
    """The functions, mostly methods, that files of a project replace."""

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._classes = symbols.classes

    @cached_property
    def paths(self) -> frozenset[str]:
        """Return the paths of the functions that a file of the project replaces; replacements by tests are
        ignored.
        """
        methods: dict[str, list[FunctionSummary]] = {}
        for module in self._symbols.modules.values():
            for function in module.functions.values():
                if function.is_method and not function.is_property:
                    methods.setdefault(function.name, []).append(function)
        found: set[str] = set()
        for module in self._symbols.modules.values():
            for path in () if module.is_test else module.replaced:
                owner, _, name = path.rpartition(".")
                symbol = self._symbols.symbol(path, module.module) if owner != ANY_CLASS else None
                if isinstance(symbol, FunctionSummary):
                    found.add(symbol.path)
                elif owner.startswith(ANY_MODULE):
                    found.update(
                        each.functions[name].path
                        for each in self._symbols.modules.values()
                        if name in each.functions and may_be_module(owner, each.module)
                    )
                elif name == ANY_NAME:
                    every = [method for named in methods.values() for method in named]
                    found.update(() if owner == ANY_CLASS else self._meant(owner, every, module))
                if name in methods:
                    found.update(self._meant(owner, methods[name], module))
        return frozenset(found)

    def _meant(self, owner: str, methods: list[FunctionSummary], module: ModuleSummary) -> Iterator[str]:
        """Yield the methods, of several, that an object of a class has. Attributes that a class sets on
        itself or on its objects also replace methods of its subclasses.
        """
        cls = self._symbols.symbol(owner, module.module) if owner != ANY_CLASS else None
        if owner != ANY_CLASS and not isinstance(cls, ClassSummary):
            return
        family = self._classes.family(cls) if isinstance(cls, ClassSummary) else ()
        for method in methods:
            if owner == ANY_CLASS or method.path.rpartition(".")[0] in family:
                yield method.path
