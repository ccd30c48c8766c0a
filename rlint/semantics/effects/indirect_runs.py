"""Code of a program that runs behind other statements: where a library writes, and where a generator is
iterated over.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rlint.models.effect import EffectKind

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import FunctionSummary
    from rlint.semantics.interprocedural.symbols import SymbolTable

_LOGGING = "logging."
_STREAMS = ("stdout", "stderr")
_REDIRECTS = frozenset({"contextlib.redirect_stdout", "contextlib.redirect_stderr"})
_SHOWS_WARNINGS = "showwarning"
_OF_ALL_GENERATORS = EffectKind.READS | EffectKind.OTHER
"""Effects of all generators: each is suspended where it yields."""


class IndirectRuns:
    """The code of a project that libraries and iteration run."""

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols

    @cached_property
    def run_by_output(self) -> EffectKind:
        """Return the kinds of output that may run code of the project: of handlers, filters and formatters of
        logs, of objects to which a library writes (`print(text, file=self.tee)`), and of what replaces the
        streams of the process.
        """
        symbols = self._symbols
        modules = [module for module in symbols.modules.values() if not module.is_test]
        classes = [cls for module in modules for cls in module.classes.values()]
        found = EffectKind(0)
        if any(base.startswith(_LOGGING) for cls in classes for base in cls.bases):
            found |= EffectKind.LOGS
        if symbols.setters(_SHOWS_WARNINGS):
            found |= EffectKind.WARNS
        if symbols.defines_method("write"):
            found |= EffectKind.FILE_IO
            imported = any(not _REDIRECTS.isdisjoint(module.imports.values()) for module in modules)
            read = any("redirect_stdout" in module.attributes_read for module in symbols.modules.values())
            if imported or read or any(map(symbols.setters, _STREAMS)):
                found |= EffectKind.WRITES_OUTPUT | EffectKind.WARNS
        return found

    @cached_property
    def generators_act(self) -> bool:
        """Whether iterating over a generator of the project may change a value that other code holds."""
        return any(
            _acts(function)
            for module in self._symbols.modules.values()
            if not module.is_test
            for function in module.functions.values()
            if function.may_return_iterator
        )


def _acts(function: FunctionSummary) -> bool:
    return bool(function.effect.kind & ~_OF_ALL_GENERATORS or function.effect_paths)
