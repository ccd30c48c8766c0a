"""Properties and operators of the classes of a project that do more than return a value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.models.effect import EffectKind
from rlint.models.special_methods import IMPLICIT, STORES
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.syntax.redefinitions import shown

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.project_index import ProjectIndex

_CHANGES = EffectKind.MUTATES | EffectKind.CONSUMES | EffectKind.DRAWS | EffectKind.COMMUNICATES


class ImplicitMethods:
    """Answers which properties and operators of other files change something, tests excluded."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._imported: dict[str, frozenset[str]] = {}

    def of_other_file(self, name: str, module: str, of: str) -> str:
        """Return the path of such a method of a name (with `STORES` at its end for the setter of a
        property) outside of a module; "" if there is none. `of` is the class of the object; if it is not
        known, the classes of the modules that the module imports count.
        """
        known = self._by_name.get(name, ())
        if not known:
            return ""
        cls = self._index.class_of(self._index.resolve(of, module)) if of else None
        for function in known:
            if function.module != module and self._may_run(function, cls, module):
                return shown(function.path)
        return ""

    def _may_run(self, function: FunctionSummary, cls: ClassSummary | None, module: str) -> bool:
        if cls is None:
            return function.module in self._imported_by(module)
        family = (*self._index.ancestry(cls), *self._index.subclasses(cls))
        return self._index.owner_of(function) in family

    def _imported_by(self, module: str) -> frozenset[str]:
        """Return the modules that a module imports, and those that these import names from (of a package)."""
        known = self._imported.get(module)
        if known is None:
            found: set[str] = set()
            pending = [module]
            while pending:
                current = self._index.modules.get(pending.pop())
                for target in (*current.imports.values(), *current.star_imports) if current else ():
                    meant = self._index.symbol(target, current.module) if current else None
                    name = getattr(meant, "module", None)
                    if name is not None and name not in found:
                        found.add(name)
                        pending += [name] if isinstance(meant, ModuleSummary) else []
            known = self._imported[module] = frozenset(found)
        return known

    @cached_property
    def _by_name(self) -> dict[str, list[FunctionSummary]]:
        found: dict[str, list[FunctionSummary]] = {}
        for module in self._index.every_module():
            for name, function in () if module.is_test else _implicit(module):
                if self._index.effect_of(function).kind & _CHANGES:
                    found.setdefault(name, []).append(function)
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
