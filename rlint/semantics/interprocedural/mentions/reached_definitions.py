"""Functions and classes that the scripts of a project use, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rlint.regex import regex
from rlint.semantics.interprocedural.call_graph import Programs
from rlint.semantics.interprocedural.mentions.definition_uses import ANY, BY_NAME, MAIN
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary

_PACKAGE = "__init__.py"
_ENTRIES = frozenset({"main", "cli"})
"""Functions that installed commands call."""
_FAR_MORE = 2
"""Minimum number of files of a package that scripts use, for each that they do not use."""
_TRIES = regex(r"(^|[._])(check|demo|test|try|unit)s?(_|$)|^unittest|^pytest")
UsedDefinition = tuple[str, str]
"""A module, and the name of a function or class at its top level; "" for the code of the module."""


class ReachedDefinitions:
    """The definitions of a project that its scripts reach. What packages export to other programs counts,
    and so does everything that code may look up by names known only at run time.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._named: dict[str, list[UsedDefinition]] = {}
        self._files = [file for file in index.every_module() if not file.is_test]
        for file in self._files:
            for name in file.definition_uses:
                if name:
                    self._named.setdefault(name, []).append((file.module, name))
        self._reached: set[UsedDefinition] = set()
        scripts = list(self._scripts())
        if scripts:
            exported = (each for file in self._files for each in self._exported(file))
            self._reach((*scripts, *exported))

    def includes(self, module: str, name: str) -> bool:
        """Whether a script of the project, or a package for other programs, reaches a definition."""
        return (module, name) in self._reached

    def misses(self, module: str, name: str) -> bool:
        """Whether no script of the project reaches a definition, though scripts use other definitions of
        its file, or nearly all other files of its package: of many agents, users choose one by an import.
        """
        file = self._index.modules[module]
        if (module, name) in self._reached or file.is_test or name not in file.definition_uses:
            return False
        if not self._reached:
            return False
        if self._is_reached(file):
            return True
        if MAIN in file.definition_uses:
            return False
        package = module.rpartition(".")[0]
        siblings = [
            other
            for other in self._files
            if other.module.rpartition(".")[0] == package and not other.path.endswith(_PACKAGE)
        ]
        reached = sum(self._is_reached(other) for other in siblings)
        return reached >= _FAR_MORE * (len(siblings) - reached)

    def _is_reached(self, file: ModuleSummary) -> bool:
        """Whether scripts reach a definition of a file, or the file if it has none."""
        names = [name for name in file.definition_uses if name] or [""]
        return any((file.module, name) in self._reached for name in names)

    def _scripts(self) -> Iterator[UsedDefinition]:
        """Yield the code of the files that are run by themselves, and what installed commands call."""
        imported = {each for file in self._files for each in self._imports(file)}
        for file in self._files:
            uses = file.definition_uses
            tried = uses.get(MAIN, ())
            is_trial = bool(tried) and any(map(_TRIES.search, tried)) and file.module in imported
            if MAIN in uses and not is_trial:
                yield from ((file.module, ""), (file.module, MAIN))
            if file.module not in imported:
                main = file.functions.get("")
                if main is not None and main.calls:
                    yield file.module, ""
                yield from ((file.module, name) for name in uses if name in _ENTRIES)
            yield from ((file.module, name) for name in file.entries)

    def _exported(self, file: ModuleSummary) -> Iterator[UsedDefinition]:
        """Yield what a package imports for other programs: definitions, and whole modules."""
        if not file.path.endswith(_PACKAGE):
            return
        for target in file.imports.values():
            yield from self._meant(target, file.module)
            yield from self._all_of(target, file.module, deep=False)
        for source in file.star_imports:
            yield from self._all_of(source, file.module, deep=False)

    def _all_of(self, target: str, importer: str, *, deep: bool = True) -> Iterator[UsedDefinition]:
        """Yield all definitions of a module, and if `deep` those of the modules in a package."""
        found = self._index.symbol(target, importer)
        if isinstance(found, ModuleSummary):
            package = f"{found.module}." if deep and found.path.endswith(_PACKAGE) else None
            for each in self._files:
                if each is found or (package and each.module.startswith(package)):
                    yield from ((each.module, name) for name in each.definition_uses if name != MAIN)

    def _reach(self, roots: Iterable[UsedDefinition]) -> None:
        pending = list(roots)
        while pending:
            definition = pending.pop()
            if definition in self._reached:
                continue
            self._reached.add(definition)
            module, name = definition
            file = self._index.modules.get(module)
            if file is None:
                continue
            pending.append((module, ""))
            if not name:
                pending += ((each, "") for each in self._imports(file))
            for use in file.definition_uses.get(name, ()):
                pending += self._meanings(use, file)

    def _imports(self, file: ModuleSummary) -> Iterator[str]:
        """Yield the modules that a file imports."""
        for target in (*file.imports.values(), *file.star_imports):
            imported = Programs.imported(target, file.module, self._index)
            if imported is not None:
                yield imported

    def _meanings(self, use: str, file: ModuleSummary) -> Iterator[UsedDefinition]:
        if use.startswith(BY_NAME):
            yield from self._named.get(use[1:], ())
        elif use == ANY:
            for target in (*file.imports.values(), *file.star_imports, file.module):
                yield from self._all_of(target, file.module)
        elif use.endswith(f".{ANY}"):
            yield from self._all_of(use.removesuffix(f".{ANY}"), file.module)
        elif use in file.definition_uses:
            yield file.module, use
        elif "." in use:
            yield from self._meant(use, file.module)
        else:
            for source in file.star_imports:
                yield from self._meant(f"{source}.{use}", file.module)

    def _meant(self, dotted: str, importer: str) -> Iterator[UsedDefinition]:
        """Yield the definition of a dotted name, or of the object whose attribute it is."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            found = self._index.symbol(".".join(parts[:cut]), importer)
            if isinstance(found, ModuleSummary):
                yield found.module, ""
                return
            if isinstance(found, (ClassSummary, FunctionSummary)):
                yield found.module, found.qualname.partition(".")[0]
                return
