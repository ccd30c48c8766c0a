"""Symbols of a project: the meaning of names across files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from rlint import models
from rlint.frozen import frozen
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.interprocedural.class_hierarchy import ClassHierarchy
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.syntax.import_statements import is_named, without_source_folder

DEPTH = 24
"""Maximum length of a chain of imports, values or calls that is followed."""
GETTER = ".fget"
"""The last step of an access path to the function of a property, not to what that returns."""
_LOOKUPS = 400  # modules that are searched for one name


@frozen
class LibraryMethod:
    """A method of a library's object, about to be called."""

    owner: Type
    name: str


Symbol = ModuleSummary | ClassSummary | FunctionSummary | Type | LibraryMethod
"""The target of a name or an access path."""


class SymbolTable:
    """Modules and names across the files of a project, and the members of classes by name. `classes` has more
    queries about the hierarchy of classes. `configurations` are files of settings, which are no modules.
    """

    def __init__(self, modules: Iterable[ModuleSummary]) -> None:
        self.modules: dict[str, ModuleSummary] = {}
        self._by_tail: dict[str, list[ModuleSummary]] = {}
        self.configurations: list[ModuleSummary] = []
        for module in modules:
            if module.is_configuration:
                self.configurations.append(module)
                continue
            self.modules.setdefault(module.module, module)
            self._by_tail.setdefault(module.module.rpartition(".")[2], []).append(module)
        self._symbols: dict[tuple[str, str], Symbol | None] = {}
        self._setters: dict[str, list[tuple[str, FunctionSummary]]] | None = None
        self._methods_named: dict[str, list[FunctionSummary]] | None = None
        self.classes = ClassHierarchy(self)

    def module_named(self, name: str) -> ModuleSummary | None:
        """Return the module of exactly this name."""
        return self.modules.get(name)

    def every_module(self) -> tuple[ModuleSummary, ...]:
        """Return all modules. Queries are recorded, so that files are checked again when an answer
        changes.
        """
        return tuple(self.modules.values())

    def symbol(self, dotted: str, importer: str) -> Symbol | None:
        """Return the meaning of a dotted name in the module `importer`; None if the project does not define
        it.
        """
        key = (dotted, importer)
        known = self._symbols.get(key)
        if known is None and key not in self._symbols:
            self._symbols[key] = None
            known = self._symbols[key] = self._find(dotted, importer, set(), 0)
        return known

    def _find(self, dotted: str, importer: str, seen: set[tuple[str, str]], depth: int) -> Symbol | None:
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            if parts[cut - 1] not in self._by_tail:
                continue
            module = self.module(".".join(parts[:cut]), importer)
            if module is not None:
                found = self._member(module, parts[cut:], seen, depth) if cut < len(parts) else module
                if (found is None or found is module) and self._is_replaced(module):
                    return self._member(module, parts[cut - 1 :], seen, depth) or found
                return found
        return None

    def _is_replaced(self, module: ModuleSummary) -> bool:
        """Whether a module's name means, in its package, what the module defines with the same name: the
        package runs `from .DQN import DQN`.
        """
        package, _, name = module.module.rpartition(".")
        above = self.modules.get(package)
        if above is None or name not in (*module.classes, *module.functions):
            return False
        is_starred = module.module in above.star_imports
        return is_starred or above.imports.get(name) == f"{module.module}.{name}"

    def module(self, dotted: str, importer: str) -> ModuleSummary | None:
        """Return the module that `import dotted` means: of that name (beside the importer, if that is a
        script), in a folder around the importer, or the only one with that name relative to a folder that is
        not a package (`import_groups.py` assumes the same).
        """
        candidates = self._by_tail.get(dotted.rpartition(".")[2])
        if candidates is None:
            return None
        # `program/torch/` is not what `import torch.distributions` means in its files
        near = dotted.partition(".")[0] not in models.NEVER_VENDORED
        package = importer.rpartition(".")[0] if near else ""
        found = self.modules.get(dotted)
        if found is not None:
            adjacent = self.modules.get(f"{package}.{dotted}") if package else None
            if adjacent is None or adjacent.module == importer or not self._holds_scripts(package):
                return found
            return adjacent
        while package:
            found = self.modules.get(f"{package}.{dotted}")
            if found is not None:
                return found
            package = package.rpartition(".")[0]
        named = [module for module in candidates if is_named(module.module, dotted, self.modules)]
        if not named and (shorter := without_source_folder(dotted)) != dotted:
            return self.module(shorter, "")
        return named[0] if len(named) == 1 else None

    def _holds_scripts(self, folder: str) -> bool:
        """Whether a folder is no package: its files run as scripts, which import the files beside them."""
        return folder not in self.modules and folder not in self._imported_folders

    @cached_property
    def attributes_read(self) -> frozenset[str]:
        """Return the names of all attributes that files read."""
        return frozenset[str]().union(*(module.attributes_read for module in self.modules.values()))

    @cached_property
    def _imported_folders(self) -> frozenset[str]:
        """Return the folders that an import names, as packages."""
        found: set[str] = set()
        for module in self.modules.values():
            for target in map(without_source_folder, (*module.imports.values(), *module.star_imports)):
                folder = target
                while folder and folder not in found:
                    found.add(folder)
                    folder = folder.rpartition(".")[0]
        return frozenset(found)

    def member(self, module: ModuleSummary, name: str) -> Symbol | None:
        """Return what a name means as an attribute of a module."""
        return self._member(module, [name], set(), 0)

    def _member(
        self, module: ModuleSummary, parts: list[str], seen: set[tuple[str, str]], depth: int
    ) -> Symbol | None:
        """Return the symbol that a module defines, imports, or gets by `import *` from other modules, in this
        order.
        """
        name = ".".join(parts)
        pending = [module]
        while pending and len(seen) <= _LOOKUPS and depth <= DEPTH:
            module = pending.pop()
            if (module.module, name) in seen:
                continue  # packages that import `*` from one another
            seen.add((module.module, name))
            found = self._own_member(module, parts, seen, depth)
            if found is not None or parts[0] in module.imports:
                return found
            starred = (self.module(source, module.module) for source in reversed(module.star_imports))
            pending += [each for each in starred if each is not None]
        return None

    def _own_member(
        self, module: ModuleSummary, parts: list[str], seen: set[tuple[str, str]], depth: int
    ) -> Symbol | None:
        name = ".".join(parts)
        if name in module.classes:
            return module.classes[name]
        if name in module.functions and name:
            return module.functions[name]
        head, rest = parts[0], parts[1:]
        if head in module.imports:
            return self._find(".".join([module.imports[head], *rest]), module.module, seen, depth + 1)
        if head in module.constants and not rest:
            return module.constants[head]
        owner = module.classes.get(".".join(parts[:-1])) if rest else None
        if owner is not None:
            return self.classes.method(owner, parts[-1]) or owner.attributes.get(parts[-1])
        return None

    def ancestry(self, cls: ClassSummary) -> tuple[ClassSummary | str, ...]:
        """Return the class and its bases, depth first; bases outside the project, and those of too many,
        as dotted names.
        """
        return self.classes.ancestry(cls)

    def subclasses(self, cls: ClassSummary) -> list[ClassSummary]:
        """Return all direct and indirect subclasses of `cls` in the project."""
        return self.classes.subclasses(cls)

    def class_kind(self, cls: ClassSummary) -> Type:
        """Return the type of an instance of a class of the project."""
        return self.classes.class_kind(cls)

    def class_of(self, kind: Type) -> ClassSummary | None:
        """Return the class of the project for a type."""
        return self.classes.class_of(kind)

    def method(self, cls: ClassSummary, name: str) -> FunctionSummary | None:
        """Return the method that `cls` has or inherits."""
        return self.classes.method(cls, name)

    def owner_of(self, method: FunctionSummary) -> ClassSummary | None:
        """Return the class that defines a method; None for other functions."""
        return self.classes.owner_of(method)

    def implementations(self, cls: ClassSummary, name: str) -> list[FunctionSummary]:
        """Return the method and all overrides in subclasses, or in a class that precedes this one in a
        subclass's bases.
        """
        return self.classes.implementations(cls, name)

    def defines_method(self, name: str) -> bool:
        """Whether any class of the project defines a method of this name."""
        return name in self._methods_defined

    @cached_property
    def _methods_defined(self) -> frozenset[str]:
        return frozenset(
            name
            for module in self.modules.values()
            for cls in module.classes.values()
            for name in cls.methods
        )

    def methods_named(self, name: str) -> list[FunctionSummary]:
        """Return the methods of this name that classes of the project define, without tests."""
        if self._methods_named is None:
            self._methods_named = {}
            for module in self.modules.values():
                for cls in () if module.is_test else module.classes.values():
                    for method in cls.methods:
                        function = module.functions.get(f"{cls.qualname}.{method}")
                        if function is not None:
                            self._methods_named.setdefault(method, []).append(function)
        return self._methods_named.get(name, [])

    def network_methods(self, name: str) -> list[FunctionSummary]:
        """Return those that belong to networks."""
        return [method for method in self.methods_named(name) if self._is_of_network(method)]

    def _is_of_network(self, method: FunctionSummary) -> bool:
        cls = self.classes.owner_of(method)
        return cls is not None and self.classes.class_kind(cls).tag is TypeTag.MODULE

    def setters(self, attribute: str) -> list[tuple[str, FunctionSummary]]:
        """Return the functions that set an attribute of this name, each with the access path of the object,
        without tests and without constructors that set their own.
        """
        if self._setters is None:
            self._setters = {}
            for module in self.modules.values():
                for function in () if module.is_test else module.functions.values():
                    for path, name in function.sets:
                        self._setters.setdefault(name, []).append((path, function))
        return self._setters.get(attribute, [])
