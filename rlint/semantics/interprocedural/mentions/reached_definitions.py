"""Functions and classes that the scripts of a project use, directly or through others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from rlint.regex import regex
from rlint.semantics.interprocedural.call_graph import Programs
from rlint.semantics.interprocedural.mentions.copied_libraries import copied_libraries
from rlint.semantics.interprocedural.mentions.definition_uses import ANY, ANY_MODULE, BY_NAME, MAIN
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary

_PACKAGE = "__init__.py"
_ENTRIES = frozenset({"main", "cli"})
"""Functions that installed commands call."""
_FAR_MORE = 2
"""Minimum number of files of a package that scripts use, for each that they do not use."""
_TRIES = regex(r"(^|[._])(check|demo|test|try|unit)s?(_|$)|^unittest|^pytest")
_DEMONSTRATES = regex(
    r"(^|\.)(examples?|benchmarks?|tutorials?|samples?|recipes?|reproductions?|sota[-_]implementations)\."
)
"""Folders of scripts that show how a library is used, and use a part of it."""
UsedDefinition = tuple[str, str]
"""A module, and the name of a function or class at its top level; "" for the code of the module."""


class ReachedDefinitions:
    """The definitions of a project that its scripts reach. What packages export to other programs counts,
    and so does everything that code may look up by names known only at run time.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._named: dict[str, list[UsedDefinition]] = {}
        self._copies = copied_libraries(index)
        every = [file for file in index.every_module() if not self._copy_of(file.module)]
        self._tests = [file for file in every if file.is_test]
        self._files = [file for file in index.every_module() if not file.is_test]
        self._own = [file for file in every if not file.is_test]
        for file in self._files:
            for name in file.definition_uses:
                if name:
                    self._named.setdefault(name, []).append((file.module, name))
        scripts = list(self._scripts())
        programs = {file.module for file in self._own if self._is_program(file)}
        self._reached = self._closure(each for each in scripts if each[0] in programs)
        self.has_programs = self._trains()
        """Whether scripts train, other than the examples of a library."""
        if scripts:
            exported = (each for file in self._own for each in self._exported(file))
            self._reached |= self._closure((*scripts, *exported))

    def includes(self, module: str, name: str) -> bool:
        """Whether a script of the project, or a package for other programs, reaches a definition."""
        return (module, name) in self._reached

    def misses(self, module: str, name: str) -> bool:
        """Whether no script of the project reaches a definition, though scripts use other definitions of
        its file, or nearly all other files of its package, which may be files of other programs: of many
        agents, users choose one by an import.
        """
        file = self._index.modules[module]
        if (module, name) in self._reached or file.is_test or name not in file.definition_uses:
            return False
        if not (self._reached or file.is_next_to_programs):
            return False
        return self._is_reached(file) or self._trains_itself(file) or self._misses_file(file)

    def loads(self, module: str) -> bool:
        """Whether code that scripts reach imports a module, or runs it."""
        return (module, "") in self._reached

    def _misses_file(self, file: ModuleSummary) -> bool:
        """Whether scripts reach no definition of a file, nor do tests, unless other programs train."""
        known = self._missed.get(file.module)
        if known is None:
            known = self._missed[file.module] = (
                MAIN not in file.definition_uses
                and not self._may_be_imported_unseen(file)
                and (self._is_next_to_programs(file) or self._is_unused_and_untested(file))
            )
        return known

    def _is_next_to_programs(self, file: ModuleSummary) -> bool:
        """Whether no script imports a file, while programs train that share no import with it."""
        return file.is_next_to_programs and not self.has_programs and not self.loads(file.module)

    def _is_unused_and_untested(self, file: ModuleSummary) -> bool:
        is_tested = any((file.module, name) in self._tested for name in file.definition_uses if name)
        return not is_tested and (
            self._is_unused_copy(file) or self._is_left_out(file) or self._is_imported_in_vain(file)
        )

    def _is_imported_in_vain(self, file: ModuleSummary) -> bool:
        """Whether scripts import from a file, no other file does, and they use nothing of it."""
        importers = self._importers.get(file.module, ())
        return bool(importers) and all(
            self.loads(other.module)
            and other.module not in self._imported
            and not other.path.endswith(_PACKAGE)
            for other in importers
        )

    @cached_property
    def _importers(self) -> dict[str, list[ModuleSummary]]:
        """Return the files that import each module of the project, without tests."""
        found: dict[str, list[ModuleSummary]] = {}
        for file in self._own:
            for module in set(self._imports(file)):
                found.setdefault(module, []).append(file)
        return found

    def _is_unused_copy(self, file: ModuleSummary) -> bool:
        """Whether a file is part of the copy of a library, and no script of it."""
        is_script = file.module not in self._imported and _makes_calls(file)
        return bool(self._copy_of(file.module)) and not is_script

    def _is_left_out(self, file: ModuleSummary) -> bool:
        """Whether scripts use far more of the other files beside a file, or of the files and folders beside a
        folder around it of which they use no file.
        """
        package, _, name = file.module.rpartition(".")
        siblings = {
            other.module: self._is_reached(other)
            for other in self._files
            if other.module.rpartition(".")[0] == package and not other.path.endswith(_PACKAGE)
        }
        if _most(siblings.values()):
            return True
        if not self.has_programs or self.loads(file.module):
            return False
        while package:
            package, _, name = package.rpartition(".")
            parts = self._parts(package)
            if parts.get(name):
                return False
            if _most(parts.values()):
                return True
        return False

    def _parts(self, package: str) -> dict[str, bool]:
        """Return the names of the files and folders in a folder, and whether scripts use any of their
        files.
        """
        known = self._used_parts.get(package)
        if known is None:
            known = self._used_parts[package] = {}
            prefix = f"{package}." if package else ""
            for file in self._files:
                if file.module.startswith(prefix):
                    name = file.module[len(prefix) :].partition(".")[0]
                    known[name] = known.get(name, False) or self._is_reached(file)
        return known

    def _may_be_imported_unseen(self, file: ModuleSummary) -> bool:
        """Whether code that scripts reach imports modules by names known only at run time, or a file has an
        import that is not understood and may mean this one.
        """
        by_name = self._import_by_name
        return (
            "" in by_name
            or self._copy_of(file.module) in by_name
            or any(_may_mean(target, file.module) for target in self._not_found)
        )

    def _copy_of(self, module: str) -> str:
        """Return the copy of a library that a module is part of, "" if there is none."""
        return next((copy for copy in self._copies if f"{module}.".startswith(f"{copy}.")), "")

    def _trains(self) -> bool:
        """Whether the code that is reached by now steps environments or optimizers."""
        return any(
            _drives(function) and (file.module, function.qualname.partition(".")[0]) in self._reached
            for file in self._files
            for function in file.functions.values()
        )

    def _trains_itself(self, file: ModuleSummary) -> bool:
        """Whether a file is a script of which the code of the module trains."""
        main = file.functions.get("")
        return main is not None and (file.module, "") in self._reached and _drives(main)

    @cached_property
    def _missed(self) -> dict[str, bool]:
        return {}

    @cached_property
    def _used_parts(self) -> dict[str, dict[str, bool]]:
        return {}

    @cached_property
    def _tested(self) -> set[UsedDefinition]:
        """Return the definitions that tests reach."""
        return self._closure((file.module, name) for file in self._tests for name in file.definition_uses)

    @cached_property
    def _import_by_name(self) -> frozenset[str]:
        """Return the copies of libraries whose code imports modules by names known only at run time, likely
        its own; "" stands for the code of the project, which may import any.
        """
        return frozenset(
            self._copy_of(module)
            for module, name in self._reached
            if (file := self._index.modules.get(module)) is not None
            and ANY_MODULE in file.definition_uses.get(name, ())
        )

    @cached_property
    def _not_found(self) -> frozenset[str]:
        """Return the imports that mean no module of the project, most of libraries."""
        return frozenset(
            target
            for file in self._index.every_module()
            for target in (*file.imports.values(), *file.star_imports)
            if Programs.imported(target, file.module, self._index) is None
        )

    def _is_reached(self, file: ModuleSummary) -> bool:
        """Whether scripts reach a definition of a file, or the file if it has none."""
        names = [name for name in file.definition_uses if name] or [""]
        return any((file.module, name) in self._reached for name in names)

    def _scripts(self) -> Iterator[UsedDefinition]:
        """Yield the code of the files that are run by themselves, and what installed commands call."""
        imported = self._imported
        for file in self._own:
            uses = file.definition_uses
            tried = uses.get(MAIN, ())
            is_trial = bool(tried) and any(map(_TRIES.search, tried)) and file.module in imported
            if MAIN in uses and not is_trial:
                yield from ((file.module, ""), (file.module, MAIN))
            if file.module not in imported:
                if _makes_calls(file):
                    yield file.module, ""
                yield from ((file.module, name) for name in uses if name in _ENTRIES)
            yield from ((file.module, name) for name in file.entries)

    def _is_program(self, file: ModuleSummary) -> bool:
        """Whether a file is run only by itself, and for its own sake."""
        is_imported = file.module in self._imported or file.path.endswith(_PACKAGE)
        return not is_imported and _DEMONSTRATES.search(file.module) is None

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset(each for file in self._files for each in self._imports(file))

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

    def _closure(self, roots: Iterable[UsedDefinition]) -> set[UsedDefinition]:
        """Return some definitions with all that they use, directly or through others."""
        found: set[UsedDefinition] = set()
        pending = list(roots)
        while pending:
            definition = pending.pop()
            if definition in found:
                continue
            found.add(definition)
            module, name = definition
            file = self._index.modules.get(module)
            if file is None:
                continue
            pending.append((module, ""))
            if not name:
                pending += ((each, "") for each in self._imports(file))
            for use in file.definition_uses.get(name, ()):
                pending += self._meanings(use, file)
        return found

    def _imports(self, file: ModuleSummary) -> Iterator[str]:
        """Yield the modules that a file imports."""
        for target in (*file.imports.values(), *file.star_imports):
            imported = Programs.imported(target, file.module, self._index)
            if imported is not None:
                yield imported

    def _meanings(self, use: str, file: ModuleSummary) -> Iterator[UsedDefinition]:
        if use.startswith(BY_NAME):
            yield from self._named.get(use[1:], ())
        elif use == ANY_MODULE:
            return
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


def _may_mean(target: str, module: str) -> bool:
    """Whether an import that is not found begins with a folder of a module, and names the module or the end
    of such a folder, not another file beside it.
    """
    imported, folders = target.split("."), module.split(".")
    return imported[0] in folders and (folders[-1] in imported or imported[-1] in folders)


def _makes_calls(file: ModuleSummary) -> bool:
    """Whether a file calls anything when it is run."""
    main = file.functions.get("")
    return main is not None and bool(main.calls)


def _most(used: Collection[bool]) -> bool:
    """Whether scripts use far more of some files than they do not use."""
    return sum(used) >= _FAR_MORE * (len(used) - sum(used))


def _drives(function: FunctionSummary) -> bool:
    """Whether the code of a function steps environments or optimizers."""
    return bool(function.drivers) or any(loop.drivers for loop in function.loops)
