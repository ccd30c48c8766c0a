"""Classes whose objects other code restores: it sets their attributes by names known only at run time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.interprocedural.external_changes.attribute_writes import AttributeWrites
from rlint.semantics.interprocedural.summary import ANY_CLASS, ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.symbols import SymbolTable

_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods that get a class without a decorator."""


class RestoredClasses:
    """The classes whose objects may have other attributes than their methods set."""

    def __init__(self, symbols: SymbolTable, writes: AttributeWrites) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._writes = writes
        self._restored: dict[str, bool] = {}

    def is_restored(self, cls: ClassSummary) -> bool:
        """Whether a class, its ancestors or descendants set attributes by names known only at run time after
        construction, or the others of them during construction; or whether a file that uses the class does so
        on objects of unknown classes, or runs its methods with them.
        """
        known = self._restored.get(cls.path)
        if known is None:
            self._restored[cls.path] = False  # an object found by its own attributes adds nothing
            family = self._classes.related(cls)
            is_set = any(each.restored or (each.constructs_by_name and each is not cls) for each in family)
            known = self._restored[cls.path] = (
                is_set
                or cls.path in self._lending
                or self._writes.is_set_by_name(cls, ANY_NAME)
                or any(not self._meant_where_restored.isdisjoint((each.module, each.path)) for each in family)
            )
        return known

    @cached_property
    def _meant_where_restored(self) -> frozenset[str]:
        """Return the dotted names of the modules and classes that files refer to which set attributes of
        unknown objects by names known only at run time, or which import such a file and may pass it objects.
        """
        files = {name: file for name, file in self._symbols.modules.items() if not file.is_test}
        restoring = {name for name, file in files.items() if file.restores}
        found: set[str] = set()
        for name, file in files.items() if restoring else ():
            targets = set(file.imports.values())
            imported = (
                self._symbols.module(each, name) for each in targets | {t.rpartition(".")[0] for t in targets}
            )
            if name in restoring or any(each and each.module in restoring for each in imported):
                meant = (self._symbols.symbol(target, name) for target in targets)
                found.update((name, *file.star_imports, *targets))
                found.update(each.path for each in meant if isinstance(each, ClassSummary))
        return frozenset(found)

    @cached_property
    def _lending(self) -> frozenset[str]:
        """Return the dotted names of the classes with a method that may run with an object of another class,
        because a file, without tests, or a method of such a class, reads it from its class.
        """
        found: set[str] = set()
        passed_on: list[tuple[ClassSummary, str]] = []
        for module in self._symbols.modules.values():
            for path, by in () if module.is_test else module.borrowed:
                borrower = self._symbols.symbol(by, module.module) if by else None
                for owner in self._owners(path, module.module):
                    if isinstance(borrower, ClassSummary) and owner in self._classes.ancestry(borrower):
                        passed_on.append((owner, borrower.path))
                    else:
                        found.add(owner.path)
        before = -1
        while len(found) > before:
            before = len(found)
            found.update(owner.path for owner, borrower in passed_on if borrower in found)
        return frozenset(found)

    def _owners(self, path: str, module: str) -> Iterator[ClassSummary]:
        """Yield the classes that define the methods which a name read from a class may mean."""
        owner, _, name = path.rpartition(".")
        cls = self._symbols.symbol(owner, module) if name == ANY_NAME else None
        if isinstance(cls, ClassSummary):
            yield cls
        method = self._symbols.symbol(path, module) if cls is None else None
        for each in self._symbols.methods_named(name) if owner == ANY_CLASS else [method]:
            if isinstance(each, FunctionSummary) and each.has_receiver and each.name not in _OF_CLASSES:
                defining = self._classes.owner_of(each) if not each.is_of_class else None
                if defining is not None and (owner != ANY_CLASS or self._writes.refers_to(module, defining)):
                    yield defining
