"""Classes that no code of a project uses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property

from rlint.models import vocabulary
from rlint.semantics.interprocedural.mentions.definition_uses import ANY_MODULE
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary

_HYDRA = "hydra"
_CREATES = frozenset({"call", "get_class", "get_method", "get_object", "get_static_method", "instantiate"})
"""Functions of Hydra that do so; `@hydra.main` alone only reads options."""
_COMMAND_LINE = ".LightningCLI"
_PACKAGE = "__init__.py"


class UnusedClasses:
    """The unused classes of a project."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def is_attribute(self, name: str) -> bool:
        """Whether any file reads an attribute of this name: `module.Class`."""
        return name in self._index.attributes_read

    def may_be_used_unseen(self, cls: ClassSummary, *, in_application: bool = False) -> bool:
        """Whether a package exports a class, or code may look up its members by names known at run time. With
        `in_application`, the package has programs of its own: what a part of it exports is for them, unless
        the whole package exports anything.
        """
        return self.may_be_named(cls.module, cls.path, in_application=in_application)

    def may_be_named(self, module: str, path: str, *, in_application: bool = False) -> bool:
        """Whether a package exports a definition of a module, or code may look it up by a name known at run
        time.
        """
        looks_up = self._index.modules[module].looks_up_names
        exporters = self._exporters(module, path)
        is_exported = any(not in_application or self._has_users(each) for each in exporters)
        return looks_up or is_exported or self._may_be_named_at_run_time(module)

    def includes(self, cls: ClassSummary) -> bool:
        """Whether no code of the project uses a class, while other files use other classes of its file. False
        if a package exports it, or if code or configuration files may name it at run time.
        """
        name = cls.qualname.rpartition(".")[2]
        if name.islower() or name in self._used or name in self._index.attributes_read:  # nearly all classes
            return False
        if self._may_be_named_at_run_time(cls.module) or self._is_exported(cls.module, cls.path):
            return False
        siblings = {other.qualname for other in self._index.modules[cls.module].classes.values()}
        return any(
            not siblings.isdisjoint(user.classes_used | user.attributes_read)
            for user in self._index.modules.values()
            if not user.is_test and user.module != cls.module and _imports(user, cls.module)
        )

    def is_overridden(self, method: FunctionSummary) -> bool:
        """Whether no object of the project runs a method: no code creates objects of its class, and all
        classes derived from it of which objects are created override it and do not call it.
        """
        cls = self._index.owner_of(method)
        if cls is None or "." in cls.qualname or self.reads_configurations:
            return False
        derived = self._index.subclasses(cls)
        if not derived or any(self._calls_next(each, method) for each in derived):
            return False
        created = [each for each in (cls, *derived) if self._may_be_created(each)]
        return bool(created) and all(
            self._index.method(each, method.name) not in (method, None) for each in created
        )

    def _may_be_created(self, cls: ClassSummary) -> bool:
        name = cls.qualname.rpartition(".")[2]
        if not self._may_be_imported(cls.module):  # scripts of a folder often name their classes alike
            own = self._index.modules[cls.module]
            return name in own.classes_created or name in own.attributes_read or own.looks_up_names
        return (
            name.islower()
            or name in self._created
            or name in self._index.attributes_read
            or self._is_exported(cls.module, cls.path)
            or self._may_be_named_at_run_time(cls.module)
        )

    def _calls_next(self, cls: ClassSummary, method: FunctionSummary) -> bool:
        """Whether a derived class calls an inherited method: `super().name()`, `Base.name(self)`."""
        return any(
            site.receiver != "self" and method.name in (site.method, site.path.rpartition(".")[2])
            for function in self._index.modules[cls.module].functions.values()
            if function.qualname.startswith(f"{cls.qualname}.")
            for site in function.calls
        )

    def _may_be_imported(self, module: str) -> bool:
        """Whether an import of the project has the name of a file in its path."""
        return module.rpartition(".")[2] in self._imported_names

    def _is_exported(self, own: str, path: str) -> bool:
        return any(True for _ in self._exporters(own, path))

    def _exporters(self, own: str, path: str) -> Iterator[ModuleSummary]:
        """Yield the packages that export a definition of a module."""
        for module in self._index.modules.values():
            is_package = module.path.endswith(_PACKAGE)
            if is_package and (path in module.imports.values() or own in module.star_imports):
                yield module

    def _has_users(self, package: ModuleSummary) -> bool:
        """Whether the outermost package around one exports anything of the project."""
        parts = package.module.split(".")
        around = (self._index.modules.get(".".join(parts[:cut])) for cut in range(1, len(parts) + 1))
        whole = next((each for each in around if each is not None and each.path.endswith(_PACKAGE)), package)
        targets = (*whole.imports.values(), *whole.star_imports)
        return any(self._index.symbol(target, whole.module) is not None for target in targets)

    def _may_be_named_at_run_time(self, module: str) -> bool:
        """Whether code that looks up names, or reads the names of classes from configuration files, imports a
        module or its package.
        """
        packages = {module, module.rpartition(".")[0]}
        return self.reads_configurations or any(
            not packages.isdisjoint(each.imports.values())
            for each in self._index.modules.values()
            if each.looks_up_names
        )

    @cached_property
    def reads_configurations(self) -> bool:
        """Whether the project uses a library that creates the objects which configuration files name."""
        files = self._index.modules.values()
        imported = [target for file in files for target in (*file.imports.values(), *file.star_imports)]
        found = {target.partition(".")[0] for target in imported} & vocabulary.READ_CLASS_NAMES
        if found != {_HYDRA}:
            return bool(found) or any(target.endswith(_COMMAND_LINE) for target in imported)
        named = {target.rpartition(".")[2] for target in imported if target.startswith(f"{_HYDRA}.")}
        is_starred = any(each.startswith(_HYDRA) for file in files for each in file.star_imports)
        uses = (each for file in files for each in file.definition_uses.values())
        imports_by_name = any(ANY_MODULE in each for each in uses)
        return is_starred or imports_by_name or not _CREATES.isdisjoint(named | self._index.attributes_read)

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        files = self._index.modules.values()
        targets = (target for file in files for target in (*file.imports.values(), *file.star_imports))
        return frozenset(part for target in targets for part in target.split("."))

    @cached_property
    def _created(self) -> frozenset[str]:
        """Return the names of the classes of which files may create objects, tests excluded."""
        files = (file for file in self._index.modules.values() if not file.is_test)
        return frozenset(itertools.chain.from_iterable(file.classes_created for file in files))

    @cached_property
    def _used(self) -> frozenset[str]:
        """Return the names of the classes that files use, tests excluded."""
        files = (file for file in self._index.modules.values() if not file.is_test)
        return frozenset(itertools.chain.from_iterable(file.classes_used for file in files))


def _imports(file: ModuleSummary, module: str) -> bool:
    """Whether a file imports a module or any of its names."""
    targets = (*file.imports.values(), *file.star_imports)
    return any(target == module or target.rpartition(".")[0] == module for target in targets)
