"""Properties and operators of the classes of a project that do more than return a value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.models.effect import EffectKind
from rlint.models.special_methods import IMPLICIT, STORES
from rlint.syntax.redefinitions import shown

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary, ModuleSummary

_CHANGES = EffectKind.MUTATES | EffectKind.CONSUMES | EffectKind.DRAWS | EffectKind.COMMUNICATES


class ImplicitMethods:
    """Answers which properties and operators of other files change something, tests excluded."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def of_other_file(self, name: str, module: str) -> str:
        """Return the path of such a method of a name (with `STORES` at its end for the setter of a
        property) outside of a module; "" if there is none.
        """
        return next((path for owner, path in self._by_name.get(name, ()) if owner != module), "")

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for module in self._index.every_module():
            for name, function in () if module.is_test else _implicit(module):
                if self._index.effect_of(function).kind & _CHANGES:
                    found.setdefault(name, []).append((module.module, shown(function.path)))
        return found


def _implicit(module: ModuleSummary) -> Iterator[tuple[str, FunctionSummary]]:
    """Yield the methods of a file that run without being called, by the names that make them run."""
    for function in module.functions.values():
        owner, _, name = shown(function.qualname).rpartition(".")
        if not function.is_method:
            continue
        known = module.functions.get(f"{owner}.{name}")
        if function.is_property or name in IMPLICIT:
            yield name, function
        elif known is not None and known.is_property:
            yield f"{name}{STORES}", function
