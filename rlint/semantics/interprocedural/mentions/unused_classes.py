"""Classes that no code of a project uses."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from functools import cached_property

from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, ModuleSummary

_NAMES_CLASSES = frozenset({"hydra", "gin", "mmcv", "mmengine"})
"""Libraries that create the objects which configuration files name."""
_PACKAGE = "__init__.py"


class UnusedClasses:
    """The unused classes of a project. `imported` are the dotted paths that its files import,
    `attributes_read` the names of the attributes that they read.
    """

    def __init__(
        self, index: ProjectIndex, imported: Collection[str], attributes_read: Collection[str]
    ) -> None:
        self._index = index
        self._imported = imported
        self._attributes_read = attributes_read

    def includes(self, cls: ClassSummary) -> bool:
        """Whether no code of the project uses a class, while other files use other classes of its file. False
        if a package exports it, or if code or configuration files may name it at run time.
        """
        name = cls.qualname.rpartition(".")[2]
        if name.islower() or name in self._used or name in self._attributes_read:  # nearly all classes
            return False
        if self._may_be_named_at_run_time(cls.module) or self._is_exported(cls):
            return False
        siblings = {other.qualname for other in self._index.modules[cls.module].classes.values()}
        return any(
            not siblings.isdisjoint(user.classes_used | user.attributes_read)
            for user in self._index.modules.values()
            if not user.is_test and user.module != cls.module and _imports(user, cls.module)
        )

    def _is_exported(self, cls: ClassSummary) -> bool:
        return any(
            cls.path in module.imports.values() or cls.module in module.star_imports
            for module in self._index.modules.values()
            if module.path.endswith(_PACKAGE)
        )

    def _may_be_named_at_run_time(self, module: str) -> bool:
        """Whether code that looks up names, or reads the names of classes from configuration files, imports a
        module or its package.
        """
        packages = {module, module.rpartition(".")[0]}
        return self._reads_configurations or any(
            not packages.isdisjoint(each.imports.values())
            for each in self._index.modules.values()
            if each.looks_up_names
        )

    @cached_property
    def _reads_configurations(self) -> bool:
        return any(target.partition(".")[0] in _NAMES_CLASSES for target in self._imported)

    @cached_property
    def _used(self) -> frozenset[str]:
        """Return the names of the classes that files use, tests excluded."""
        files = (file for file in self._index.modules.values() if not file.is_test)
        return frozenset(itertools.chain.from_iterable(file.classes_used for file in files))


def _imports(file: ModuleSummary, module: str) -> bool:
    """Whether a file imports a module or any of its names."""
    targets = (*file.imports.values(), *file.star_imports)
    return any(target == module or target.rpartition(".")[0] == module for target in targets)
