"""Modules whose variables a file iterates over, and functions whose code object it runs elsewhere: other code
observes the contents of such a module, or the names that such a function reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.effects.namespace_writes import (
    ANY_MODULE,
    NAMESPACES,
    NameResolver,
    is_own_module,
    owner_paths,
)
from rlint.semantics.effects.passed_modules import PASSED_MODULE, unknown_paths
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.syntax_index import SyntaxIndex

_LISTS = ("dir", "getmembers")
_SOURCES = ("getsource", "getsourcelines", "FunctionType", "LambdaType")
_RUNS = ("exec", "eval", "compile", "FunctionType", "LambdaType")
"""Functions that run code in a namespace, or make a function of it."""
_RUN_FILES = ("run_path", "run_module")
"""Functions of `runpy`, which return the variables of the module that they run."""
ANY_FUNCTION = "__any_function__"
"""The dotted name of a function that other code passes."""
_HINTS = (
    *(f"{name}(" for name in (*NAMESPACES, *_LISTS, *_SOURCES, *_RUN_FILES)),
    "(vars,",
    "(dir,",
    "__dict__",
    "__globals__",
    "__code__",
)
_LOOKUPS = frozenset({"get", "pop", "setdefault", "update", "__getitem__", "__setitem__"})
"""Methods of a namespace that read or set names given by the caller."""


def observed_in(syntax: SyntaxIndex, names: QualifiedNames) -> frozenset[str]:
    """Return the dotted names of the modules whose variables a file iterates over, and of the functions whose
    code object it reads.
    """
    if not any(hint in syntax.text for hint in _HINTS):
        return frozenset()
    return frozenset(_Observed(syntax, names).all())


class _Observed:
    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames) -> None:
        self._syntax = syntax
        self._names = names
        self._resolve: NameResolver = names.qualified

    def all(self) -> Iterator[str]:
        written = self._syntax.written
        for call in written.calls_of((*NAMESPACES, *_LISTS)):
            if self._observes_all_names(call, depth=2):
                yield from self._listed_by(call)
        for attribute in (
            *written.attributes.get("__dict__", ()),
            *written.attributes.get("__globals__", ()),
        ):
            if self._observes_all_names(attribute, depth=2):
                yield from self._modules(attribute if attribute.attr == "__globals__" else attribute.value)
        for call in written.calls_of(_RUN_FILES):
            is_returned = isinstance(self._syntax.parents.get(call), ast.Return)
            if not is_returned and self._observes_all_names(call, depth=2):
                yield ANY_MODULE
        builtin = (use for name in ("vars", "dir") for use in self._syntax.variables.uses(name, None))
        if any(self._syntax.call_of(use) is None for use in builtin):
            yield PASSED_MODULE  # `map(vars, modules)`
        runs = bool(written.calls_of(_RUNS))
        for taken in (*self._sources_taken(), *self._codes_taken()):
            yield from self._paths(taken)
            if runs and self._resolve(taken) is None:
                yield ANY_FUNCTION

    def _sources_taken(self) -> Iterator[ast.expr]:
        """Yield the functions and classes whose source is read, or whose code gets another namespace."""
        for call in self._syntax.written.calls_of(_SOURCES):
            for taken in call.args[:1]:
                if not (isinstance(taken, ast.Attribute) and taken.attr == "__code__"):
                    yield taken

    def _codes_taken(self) -> Iterator[ast.expr]:
        """Yield the functions whose code object is passed on: `marshal.dumps(function.__code__)`."""
        for code in self._syntax.written.attributes.get("__code__", ()):
            if isinstance(self._syntax.parents.get(code), (ast.Call, ast.Assign, ast.Return, ast.keyword)):
                yield code.value

    def _listed_by(self, call: ast.Call) -> Iterator[str]:
        match call:
            case ast.Call(func=ast.Name(id="globals")):
                yield self._names.module
            case ast.Call(func=ast.Name(id="locals" | "vars" | "dir"), args=[]):
                if self._syntax.function(call) is None:
                    yield self._names.module
            case ast.Call(func=ast.Name(id="vars" | "dir"), args=[owner]):
                yield from self._modules(owner)
            case ast.Call(
                func=ast.Name(id="getmembers") | ast.Attribute(attr="getmembers"), args=[owner, *_]
            ):
                yield from self._modules(owner)

    def _modules(self, owner: ast.expr) -> Iterator[str]:
        match owner:
            case _ if is_own_module(owner):
                yield self._names.module
            case ast.Name() if any(map(is_own_module, self._values_of(owner))):
                yield self._names.module
            case ast.Attribute(value=function, attr="__globals__"):
                for path in self._paths(function):
                    yield path.rpartition(".")[0]
            case _:
                for path in self._paths(owner):
                    if not path.startswith(ANY_MODULE) or not self._is_for_an_error(owner):
                        yield self._names.module if path == "__main__" else path
                yield from unknown_paths(owner, self._syntax, self._resolve)

    def _is_for_an_error(self, owner: ast.expr) -> bool:
        """Whether the text of an error lists a module: `raise AttributeError(f"not in {dir(module)}")`."""
        return any(isinstance(around, ast.Raise) for around in self._syntax.ancestors(owner))

    def _values_of(self, name: ast.Name) -> list[ast.expr]:
        scope = self._syntax.scope(name).lookup(name.id)
        bindings = scope.bindings[name.id] if scope is not None else []
        return [binding.value for binding in bindings if binding.value is not None and not binding.path]

    def _paths(self, node: ast.expr) -> Iterator[str]:
        return owner_paths(node, self._syntax, self._resolve)

    def _observes_all_names(self, namespace: ast.expr, depth: int) -> bool:
        """Whether code may observe all names of a namespace, not only names that it spells out."""
        match self._syntax.parents.get(namespace):
            case ast.Subscript(value=value) if value is namespace:
                return False
            case ast.Attribute(value=value, attr=name) if value is namespace:
                return name not in _LOOKUPS
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]) if left is not namespace:
                return False
            case ast.Assign(targets=[ast.Name(id=name) as target]) if depth:
                scope = self._syntax.scope(target).lookup(name)
                uses = self._syntax.variables.uses(name, scope)
                reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
                return any(self._observes_all_names(use, depth - 1) for use in reads)
            case ast.Call(func=ast.Name(id="exec" | "eval" | "setattr" | "getattr" | "hasattr")):
                return False
            case ast.Expr():
                return False
        return True
