"""Code of a program that runs behind other statements: where a library writes, and where a generator is
iterated over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.models.effect import EffectKind

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary

_LOGGING = "logging."
_STREAMS = ("stdout", "stderr")
_REDIRECTS = frozenset({"contextlib.redirect_stdout", "contextlib.redirect_stderr"})
_SHOWS_WARNINGS = "showwarning"
_OF_ALL_GENERATORS = EffectKind.READS | EffectKind.OTHER
"""Effects of all generators: each is suspended where it yields."""


def run_by_output(index: ProjectIndex) -> EffectKind:
    """Return the kinds of output that may run code of the project: of handlers, filters and formatters of
    logs, of objects to which a library writes (`print(text, file=self.tee)`), and of what replaces the
    streams of the process.
    """
    modules = [module for module in index.modules.values() if not module.is_test]
    classes = [cls for module in modules for cls in module.classes.values()]
    found = EffectKind(0)
    if any(base.startswith(_LOGGING) for cls in classes for base in cls.bases):
        found |= EffectKind.LOGS
    if index.setters(_SHOWS_WARNINGS):
        found |= EffectKind.WARNS
    if index.defines_method("write"):
        found |= EffectKind.FILE_IO
        imported = any(not _REDIRECTS.isdisjoint(module.imports.values()) for module in modules)
        read = any("redirect_stdout" in module.attributes_read for module in index.modules.values())
        if imported or read or any(map(index.setters, _STREAMS)):
            found |= EffectKind.WRITES_OUTPUT | EffectKind.WARNS
    return found


def generators_act(index: ProjectIndex) -> bool:
    """Whether iterating over a generator of the project may change a value that other code holds."""
    return any(
        _acts(function)
        for module in index.modules.values()
        if not module.is_test
        for function in module.functions.values()
        if function.may_return_iterator
    )


def _acts(function: FunctionSummary) -> bool:
    return bool(function.effect.kind & ~_OF_ALL_GENERATORS or function.effect_paths)
