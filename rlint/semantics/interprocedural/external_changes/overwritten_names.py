"""Names that the files of a project overwrite in other modules and in libraries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from rlint import models
from rlint.semantics.effects.namespace_writes import ANY_MODULE, ANY_NAME, may_be_module
from rlint.semantics.effects.passed_modules import PASSED_MODULE
from rlint.semantics.interprocedural.qualified_names import is_class
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.symbols import SymbolTable

_SET_BY_NAME = frozenset(
    {"_modules", "_parameters", "add_module", "register_module", "register_parameter", "set_submodule"}
    | {"__delattr__", "__setattr__"}
)
"""Attributes and methods by which code replaces parts of a network."""


class OverwrittenNames:
    """Variables of modules, functions of libraries, and attributes of arguments that other code sets. What
    tests set is ignored.
    """

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._own = {name.partition(".")[0] for name in symbols.modules}
        """The packages of the project, which may be a known library itself: what it sets on its own classes
        replaces nothing.
        """
        self._set: dict[str, frozenset[str]] = {}

    @cached_property
    def in_libraries(self) -> frozenset[str]:
        """Return the dotted names of library functions and methods that a file of the project, without tests,
        replaces in the library or overrides in a class derived from one of data; `torch.Tensor.*` if any may
        be meant, `torch.nn.Module.forward` for that of any network.
        """
        modules = [module for module in self._symbols.modules.values() if not module.is_test]
        return frozenset(
            path for module in modules for path in (*self._replaced_by(module), *_overridden_by(module))
        )

    def _replaced_by(self, module: ModuleSummary) -> Iterator[str]:
        for path in module.replaced:
            if path.endswith(".forward"):
                yield "torch.nn.Module.forward"
            elif self._is_in_library(path):
                if not is_class(path.rpartition(".")[0]) or _is_method(path):
                    yield path  # not an attribute that an object gets
            else:
                through = self._through_another(path, module)
                if through:
                    yield through

    def _through_another(self, path: str, module: ModuleSummary) -> str:
        """Return `time.sleep` for `worker.time.sleep`: a name set through the module that imports it."""
        owner, _, rest = path.partition(".")
        name, _, attribute = rest.partition(".")
        other = self._symbols.symbol(owner, module.module) if attribute else None
        target = other.imports.get(name, "") if isinstance(other, ModuleSummary) else ""
        return models.canonical(f"{target}.{attribute}") if self._is_in_library(target) else ""

    def _is_in_library(self, path: str) -> bool:
        root = path.partition(".")[0]
        return models.is_library(root) and root not in self._own

    def names_in(self, module: str) -> frozenset[str]:
        """Return the variables in a module whose value other files may set: through the module itself
        (`config.N = 0`), or through the one that it imports them from; `*` for any.
        """
        symbol = self._symbols.symbol
        found = set(self._set_in(module))
        for name, path in self._symbols.modules[module].imports.items():
            owner, _, member = path.rpartition(".")
            whole = symbol(path, module)
            source = whole if isinstance(whole, ModuleSummary) else symbol(owner, module)
            if isinstance(source, ModuleSummary) and source.module != module:
                changed = self._set_in(source.module)
                if source is whole:
                    found |= changed
                elif changed & {member, ANY_NAME}:
                    found.add(name)
        return frozenset(found)

    @cached_property
    def in_arguments(self) -> frozenset[str]:
        """Return the names of the attributes that files, without tests, set in objects that functions get as
        arguments; `*` for names known only at run time.
        """
        return frozenset(self._find_in_arguments())

    def _find_in_arguments(self) -> Iterator[str]:
        for module in self._symbols.modules.values():
            for path in () if module.is_test else module.set_in_modules:
                owner, _, name = path.rpartition(".")
                function = owner.partition(PASSED_MODULE)[2]
                if function and not function.endswith("()"):
                    yield name

    @cached_property
    def sets_by_name(self) -> bool:
        """Whether files, without tests, set attributes, layers or parameters by names known only at run
        time.
        """
        return any(
            not module.is_test and (module.restores or not module.attributes_read.isdisjoint(_SET_BY_NAME))
            for module in self._symbols.modules.values()
        )

    def passed_as(self, path: str) -> Collection[str]:
        """Return the modules that `__passed__@override` may be: those that files, without tests, use as
        values, and all if one of a name known only at run time is passed to `override`; for
        `__passed__@load()`, all if `load` returns such a one.
        """
        marker, is_passed, function = path.partition(PASSED_MODULE)
        if marker or not is_passed:
            return ()
        if f"{ANY_MODULE}@{function}" in self._values:
            return self._symbols.modules
        return () if function.endswith("()") else self._passed

    @cached_property
    def _passed(self) -> frozenset[str]:
        modules = self._symbols.modules.values()
        found = (
            self._symbols.symbol(path, module.module)
            for module in modules
            for path in (() if module.is_test else module.passed_modules)
        )
        return frozenset(each.module for each in found if isinstance(each, ModuleSummary))

    @cached_property
    def _values(self) -> frozenset[str]:
        files = (each for each in self._symbols.modules.values() if not each.is_test)
        return frozenset[str]().union(*(each.passed_modules for each in files))

    def _set_in(self, module: str) -> frozenset[str]:
        known = self._set.get(module)
        if known is None:
            known = self._set[module] = frozenset(self._find_set_in(self._symbols.modules[module]))
        return known

    def _find_set_in(self, target: ModuleSummary) -> Iterator[str]:
        """Yield what files set in a module. An object of unknown class may be the module in a file that
        imports it.
        """
        symbol = self._symbols.symbol
        for other in self._symbols.modules.values():
            if other.is_test and not target.is_test:
                continue
            for path in other.set_in_modules:
                owner, _, name = path.rpartition(".")
                if (
                    owner == "__main__"
                    or may_be_module(owner, target.module)
                    or target.module in self.passed_as(owner)
                    or symbol(owner, other.module) is target
                ):
                    yield name
            if not any(symbol(path, other.module) is target for path in other.imports.values()):
                continue
            for function in other.functions.values():
                for path, name in function.sets:
                    if not path and name not in target.functions and name not in target.classes:
                        yield name


def _is_method(path: str) -> bool:
    """Whether a dotted name is that of a method of tensors, arrays, containers …, or of any of these."""
    owner, _, name = path.rpartition(".")
    tag = models.CLASSES.get(owner)
    return name == ANY_NAME or (tag is not None and models.method_fact(tag, name) is not None)


def _overridden_by(module: ModuleSummary) -> Iterator[str]:
    """Yield the methods overridden by classes derived from tensors, arrays, lists …; all methods for a mode
    that intercepts calls of library functions.
    """
    for cls in module.classes.values():
        if not models.INTERCEPTING_MODES.isdisjoint(map(models.canonical, cls.bases)):
            yield f"torch.Tensor.{ANY_NAME}"
        base = next(filter(models.is_data_class, map(models.canonical, cls.bases)), None)
        for name in cls.methods if base is not None else ():
            if name in models.INTERCEPTING:
                yield f"{base}.{ANY_NAME}"
            elif not name.startswith("__"):
                yield f"{base}.{name}"
