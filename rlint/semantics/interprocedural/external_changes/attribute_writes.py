"""Code outside of a class that sets attributes of its objects."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rlint.models.value_type import UNKNOWN, TypeTag, access_path, alternatives
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.symbols import SymbolTable

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver


class AttributeWrites:
    """The attributes that other code sets, by their names or by access paths."""

    def __init__(self, symbols: SymbolTable, paths: PathResolver) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._paths = paths
        self._set_from_outside: dict[tuple[str, str], bool] = {}

    def is_set_from_outside(self, cls: ClassSummary, name: str) -> bool:
        """Whether code outside of a class, its ancestors and descendants may assign values of a type unknown
        to the class to an attribute of its objects.
        """
        key = (cls.path, name)
        known = self._set_from_outside.get(key)
        if known is None:
            self._set_from_outside[key] = False  # a value computed from itself adds nothing
            family = self._classes.family(cls)
            known = self._set_from_outside[key] = (
                self._is_overridden(cls, name)
                or self.is_set_by_name(cls, name)
                or any(
                    self._may_set(path, function, cls, family)
                    for path, function in self._symbols.setters(name)
                )
            )
        return known

    def is_set_by_name(self, cls: ClassSummary, name: str) -> bool:
        """Whether a file, without tests, sets an attribute of objects of a class by its name (`*`: by names
        known only at run time), other than a method in its own object.
        """
        setting = self._setting_by_name.get(name, ())
        family = self._classes.family(cls) if setting else frozenset()
        return any(self._may_be(path, module, cls, family, in_own_file=True) for path, module in setting)

    @cached_property
    def _setting_by_name(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for module in self._symbols.modules.values():
            for path, name in () if module.is_test else module.set_by_name:
                found.setdefault(name, []).append((path, module.module))
        return found

    def _is_overridden(self, cls: ClassSummary, name: str) -> bool:
        """Whether a subclass replaces an attribute by a method or property, or sets its attributes itself."""
        return any(
            name in each.methods or "__setattr__" in each.methods for each in self._classes.subclasses(cls)
        )

    def _may_set(
        self, path: str, function: FunctionSummary, cls: ClassSummary, family: frozenset[str]
    ) -> bool:
        if function.path.rpartition(".")[0] in family:
            return False  # a method, whose assignments the class includes
        # assignments in the same file to an object of a known class are joined with the type from the class
        return self._may_be(path, function.module, cls, family, in_own_file=False)

    def _may_be(
        self, path: str, module: str, cls: ClassSummary, family: frozenset[str], *, in_own_file: bool
    ) -> bool:
        """Whether an access path of a file may lead to an object of a class or its family; with
        `in_own_file`, also to one that surely is, in the file of the class.
        """
        if path.startswith("="):
            return False  # a tensor, a module of a library
        paths = alternatives(path)
        if len(paths) == 1:
            kind = self._paths.resolve(path, module) if path else UNKNOWN
            owner = self._classes.class_of(kind)
            if owner is not None:
                return owner.path in family and (in_own_file or module != cls.module)
            if "{" not in kind.of:
                return not kind and self.refers_to(module, cls)
            paths = alternatives(access_path(kind))
        return any(self._may_be(each, module, cls, family, in_own_file=in_own_file) for each in paths)

    def refers_to(self, module: str, cls: ClassSummary) -> bool:
        """Whether a file refers to a class: it defines it, or imports it or its file."""
        if module == cls.module:
            return True
        found = self._symbols.modules.get(module)
        return found is not None and (
            cls.module in found.star_imports
            or any(target in (cls.module, cls.path) for target in found.imports.values())
            or any(self._symbols.symbol(target, module) is cls for target in found.imports.values())
        )

    def sets_in_arrays(self, attribute: str) -> bool:
        """Whether code of the project may set or delete an attribute of a NumPy array, which can change its
        layout: `rows.shape = (4, 2)`.
        """
        return any(self._may_be_array(path, function) for path, function in self._symbols.setters(attribute))

    def _may_be_array(self, path: str, function: FunctionSummary) -> bool:
        if path.startswith("="):
            return path == f"={TypeTag.NDARRAY.value}"
        kind = self._paths.resolve(path, function.module) if path else UNKNOWN
        return not kind or kind.tag is TypeTag.NDARRAY

    @cached_property
    def copied_into(self) -> frozenset[str]:
        """Return the attributes into whose networks code of any file copies the state dict of another one:
        `agent.old.load_state_dict(agent.net.state_dict())`.
        """
        return frozenset(
            site.receiver
            for module in self._symbols.modules.values()
            for function in (() if module.is_test else module.functions.values())
            for site in function.calls
            if site.method == "load_state_dict" and site.receiver and ("0", "state_dict") in site.names
        )
