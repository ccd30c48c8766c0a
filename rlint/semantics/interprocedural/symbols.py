"""Symbols of a project: the meaning of names across files, and the class hierarchy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from rlint import models
from rlint.frozen import frozen
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.nn.overriding import Overriding
from rlint.syntax.import_statements import is_named, without_source_folder

MOST_ANCESTORS = 100
"""Maximum number of ancestors of a class that are examined. Examining all of them for each class would take
quadratic time.
"""
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

_TAGS_OF_BASES = frozenset(
    TypeTag[name]
    for name in "MODULE ENVIRONMENT OPTIMIZER DATASET THREAD PROCESS LOADER REPLAY_BUFFER".split()
)


def is_unknown(base: str) -> bool:
    """Whether a base outside of the project is unknown: a module of a library without tables."""
    return base.partition(".")[0] not in ("abc", "builtins", "enum", "typing") and not models.callable_fact(
        base
    )


class SymbolTable:
    """Modules, names and classes across the files of a project."""

    def __init__(self, modules: Iterable[ModuleSummary]) -> None:
        self.modules: dict[str, ModuleSummary] = {}
        self._by_tail: dict[str, list[ModuleSummary]] = {}
        for module in modules:
            self.modules.setdefault(module.module, module)
            self._by_tail.setdefault(module.module.rpartition(".")[2], []).append(module)
        self._symbols: dict[tuple[str, str], Symbol | None] = {}
        self._class_kinds: dict[str, Type] = {}
        self._ancestry: dict[str, tuple[ClassSummary | str, ...]] = {}
        self._methods: defaultdict[str, dict[str, FunctionSummary | None]] = defaultdict(dict)
        self._subclasses: dict[str, list[ClassSummary]] | None = None
        self._implementations: dict[tuple[str, str], list[FunctionSummary]] = {}
        self._setters: dict[str, list[tuple[str, FunctionSummary]]] | None = None
        self._given: dict[str, list[tuple[str, Type, str]]] | None = None
        self._methods_named: dict[str, list[FunctionSummary]] | None = None
        self._overriding = Overriding(self)

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
            return self.method(owner, parts[-1]) or owner.attributes.get(parts[-1])
        return None

    def ancestry(self, cls: ClassSummary) -> tuple[ClassSummary | str, ...]:
        """Return the class and its bases, depth first; bases outside the project, and those of too many,
        as dotted names.
        """
        known = self._ancestry.get(cls.path)
        if known is None:
            known = self._ancestry[cls.path] = tuple(self._ancestors(cls))
        return known

    def _ancestors(self, cls: ClassSummary) -> list[ClassSummary | str]:
        found: list[ClassSummary | str] = []
        stack: list[ClassSummary | str] = [cls]
        seen: set[str] = set()
        while stack and len(found) <= MOST_ANCESTORS:
            current = stack.pop()
            name = current if isinstance(current, str) else current.path
            if name in seen:
                continue
            seen.add(name)
            found.append(current)
            if isinstance(current, ClassSummary):
                for base in reversed(current.bases):
                    symbol = self.symbol(base, current.module)
                    stack.append(symbol if isinstance(symbol, ClassSummary) else models.canonical(base))
        # if there are too many, the remaining ones are treated as outside of the project
        return found + [each if isinstance(each, str) else each.path for each in reversed(stack)]

    def subclasses(self, cls: ClassSummary) -> list[ClassSummary]:
        """Return all direct and indirect subclasses of `cls` in the project."""
        if self._subclasses is None:
            self._subclasses = {}
            for module in self.modules.values():
                for candidate in module.classes.values():
                    for base in self.ancestry(candidate)[1:]:
                        if isinstance(base, ClassSummary):
                            self._subclasses.setdefault(base.path, []).append(candidate)
        return self._subclasses.get(cls.path, [])

    def class_kind(self, cls: ClassSummary) -> Type:
        """Return the type of an instance of a class of the project."""
        known = self._class_kinds.get(cls.path)
        if known is None:
            tag = TypeTag.INSTANCE
            for base in self.ancestry(cls):
                if isinstance(base, str):
                    made = models.callable_fact(base)
                    found = made.result.tag if made else None
                    if found in _TAGS_OF_BASES:
                        tag = found
                        break
            if tag is TypeTag.INSTANCE and self._runs_layers(cls):
                tag = TypeTag.MODULE
            known = self._class_kinds[cls.path] = Type(tag, of=cls.path)
        return known

    def _runs_layers(self, cls: ClassSummary) -> bool:
        """Whether a class with an unknown base has torch layers and a `forward` that may run them."""
        ancestry = self.ancestry(cls)
        own = [each for each in ancestry if isinstance(each, ClassSummary)]
        return (
            any("forward" in each.methods for each in own)
            and any(isinstance(each, str) and is_unknown(each) for each in ancestry)
            and any(
                kind.tag is TypeTag.MODULE and kind.of.startswith("torch.nn.")
                for each in own
                for kind in each.attributes.values()
            )
        )

    def class_of(self, kind: Type) -> ClassSummary | None:
        """Return the class of the project for a type."""
        symbol = self.symbol(kind.of, "") if kind.of and kind.tag is not TypeTag.UNKNOWN else None
        return symbol if isinstance(symbol, ClassSummary) else None

    def method(self, cls: ClassSummary, name: str) -> FunctionSummary | None:
        """Return the method that `cls` has or inherits."""
        known = self._methods[cls.path]
        if name not in known:
            known[name] = next(
                (
                    self.modules[owner.module].functions.get(f"{owner.qualname}.{name}")
                    for owner in self.ancestry(cls)
                    if isinstance(owner, ClassSummary) and name in owner.methods
                ),
                None,
            )
        return known[name]

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

    def may_override(self, kind: Type, methods: tuple[str, ...]) -> bool:
        """Whether an object of this type may be of a project class that defines one of these methods itself,
        or has an unknown base.
        """
        return self._overriding.may_override(kind, methods)

    def implementations(self, cls: ClassSummary, name: str) -> list[FunctionSummary]:
        """Return the method and all overrides in subclasses, or in a class that precedes this one in a
        subclass's bases.
        """
        key = (cls.path, name)
        known = self._implementations.get(key)
        if known is not None:
            return known
        own = self.method(cls, name)
        by_path = {own.path: own} if own is not None else {}
        for subclass in self.subclasses(cls):
            if name in subclass.methods or len(subclass.bases) > 1:
                overriding = self.method(subclass, name)
                if overriding is not None:
                    by_path.setdefault(overriding.path, overriding)
        found = self._implementations[key] = list(by_path.values())
        return found

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

    def owner_of(self, method: FunctionSummary) -> ClassSummary | None:
        """Return the class that defines a method; None for other functions."""
        return self.modules[method.module].classes.get(method.qualname.rpartition(".")[0])

    def _is_of_network(self, method: FunctionSummary) -> bool:
        cls = self.owner_of(method)
        return cls is not None and self.class_kind(cls).tag is TypeTag.MODULE

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

    def given(self, attribute: str) -> list[tuple[str, Type, str]]:
        """Return what code outside of classes stores in attributes of this name: the access path of the
        object, the type of the value, and the module, without tests.
        """
        if self._given is None:
            self._given = {}
            for module in self.modules.values():
                for path, name, kind in () if module.is_test else module.given:
                    self._given.setdefault(name, []).append((path, kind, module.module))
        return self._given.get(attribute, [])
