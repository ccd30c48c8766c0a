"""Variables that a function reads although they are neither its arguments nor its own: those of modules, of
enclosing functions, and defaults that calls share.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.value_type import Type
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.queries import defaults_of
from rlint.syntax.read_chain import read_chain
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.project_index import ProjectIndex

UNNAMED = ""
"""Stands for a variable of an enclosing function, or a default value that calls may change."""
_MUTABLE_DEFAULTS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_DEFINED = frozenset({BindingKind.FUNCTION, BindingKind.CLASS})
_ENUMS = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})


def outside_reads(function: Function, analysis: FileAnalysis) -> tuple[str, ...]:
    """Return the dotted names of the variables of modules that a function reads, `UNNAMED` for others."""
    return tuple(dict.fromkeys(_reads(function, analysis)))


def _reads(function: Function, analysis: FileAnalysis) -> Iterator[str]:
    syntax, names = analysis.syntax, analysis.names
    of_module, own = syntax.scopes[syntax.module].bindings, syntax.scopes[function].bindings
    shared = {
        name for name, default in defaults_of(function.args).items() if isinstance(default, _MUTABLE_DEFAULTS)
    }
    around = {each for each in syntax.ancestors(function) if isinstance(each, FUNCTIONS)}
    plain = {
        name
        for name, bindings in own.items()
        if name not in shared and all(binding.kind is not BindingKind.IMPORT for binding in bindings)
    }
    visible = (own, of_module, *(syntax.scopes[each].bindings for each in around))
    for node in descendants(function):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in plain:
            continue
        if not any(node.id in bindings for bindings in visible):
            continue  # a builtin
        scope, bindings = names.bindings(node)
        if scope is None:
            continue
        if any(binding.kind is BindingKind.IMPORT for binding in bindings):
            path = names.qualified(read_chain(node, syntax))
            if path is not None and not models.is_library(path):
                yield path
        elif scope.parent is None:
            if node.id in of_module and not all(binding.kind in _DEFINED for binding in bindings):
                yield f"{analysis.name}.{node.id}"
        elif scope.node is function:
            if node.id in shared:
                yield UNNAMED
        elif scope.node in around and not _is_fixed(bindings, analysis):
            yield UNNAMED


def _is_fixed(bindings: list[Binding], analysis: FileAnalysis) -> bool:
    """Whether a variable is bound once, to a definition or an immutable value."""
    if all(binding.kind in _DEFINED for binding in bindings):
        return True
    return len(bindings) == 1 and is_immutable(analysis.types.binding_kind(bindings[0]))


class OutsideReads:
    """Answers which functions of a project read variables that may change between two calls."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._known: dict[str, bool] = {}
        self._variables: dict[tuple[str, str], bool] = {}

    def by_call(self, path: str, module: str) -> bool:
        """Whether a function that calling an access path may run reads such variables, or one that it
        calls.
        """
        return any(run(self._by(function)) for function in self._index.callables(path, module))

    def _by(self, function: FunctionSummary) -> Step[bool]:
        known = self._known.get(function.path)
        if known is not None:
            return known
        self._known[function.path] = False  # a recursive call adds nothing
        found = any(self.may_change(path, function.module) for path in function.outside_reads)
        if not function.remembers:
            for path, _ in function.effect_paths:
                for called in () if found else self._index.callables(path, function.module):
                    found = found or (yield self._by(called))
        self._known[function.path] = found
        return found

    def may_change(self, path: str, module: str) -> bool:
        """Whether a dotted name means a variable of the project that is not bound once to an immutable
        value.
        """
        key = (path, module)
        if key not in self._variables:
            self._variables[key] = True  # modules that import an undefined name from one another
            self._variables[key] = path == UNNAMED or self._may_change(path.split("."), module)
        return self._variables[key]

    def _may_change(self, parts: list[str], module: str) -> bool:
        for cut in range(len(parts), 0, -1):
            found = self._index.symbol(".".join(parts[:cut]), module)
            rest = parts[cut:]
            if isinstance(found, ModuleSummary):
                return bool(rest) and self._changes_in(found, rest)
            if isinstance(found, ClassSummary):
                return bool(rest) and not self._is_enumeration(found)
            if isinstance(found, FunctionSummary):
                return bool(rest)
            if isinstance(found, Type):
                return self._may_be_set(parts[:cut], module) if is_immutable(found) else True
        return False

    def _changes_in(self, file: ModuleSummary, rest: list[str]) -> bool:
        """Whether a name that a file of the project does not define once may change: not if it comes from a
        library.
        """
        target = file.imports.get(rest[0])
        if target is None:
            return True
        return self.may_change(".".join([target, *rest[1:]]), file.module)

    def _may_be_set(self, parts: list[str], module: str) -> bool:
        """Whether other code may set a variable of a module or class, given by its dotted name."""
        owner = self._index.symbol(".".join(parts[:-1]), module)
        if isinstance(owner, ClassSummary):
            return not self._is_enumeration(owner)
        if not isinstance(owner, ModuleSummary):
            return True
        set_there = self._index.overwritten_names.names_in(owner.module)
        if not set_there.isdisjoint({parts[-1], ANY_NAME}):
            return True
        target = owner.imports.get(parts[-1])
        return target is not None and self.may_change(target, owner.module)

    def _is_enumeration(self, cls: ClassSummary) -> bool:
        return any(base in _ENUMS for base in self._index.ancestry(cls) if isinstance(base, str))
