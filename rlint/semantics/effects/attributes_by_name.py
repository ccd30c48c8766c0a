"""Attributes that a file sets by name in objects, other than in the `self` of a method: `setattr(self.agent,
name, value)`, `vars(agent)["rows"] = rows`, and namespaces that other code gets: `fill(vars(agent))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.effect import EffectKind
from rlint.semantics.dataflow.immutability import path_of_object
from rlint.semantics.dataflow.indirect_setters import SETTERS, may_be_of_project
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.value_use import is_handed_on

_CHANGE = frozenset({"__delitem__", "__ior__", "__setitem__", "pop", "setdefault", "update"})
"""Methods of a dict that change it."""
_CHAIN = "collections.ChainMap"
"""A class whose objects pass changes on to the dict that they get."""


def set_by_name(analysis: FileAnalysis) -> tuple[tuple[str, str], ...]:
    """Return the access paths of the objects whose attributes a file may set by name, "" if the object is
    unknown, each with the name of the attribute, `*` if it is known only at run time. Left out is what a
    method sets in its own `self`.
    """
    found: dict[tuple[str, str], None] = {}
    for owner, name in _written(analysis):
        if may_be_of_project(owner, analysis):
            found[path_of_object(owner, analysis), name] = None
    return tuple(found)


def _written(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, str]]:
    for owner, name in analysis.names.writes:
        if owner is not None and not analysis.names.is_self(owner) and not _passes_on(owner, analysis):
            yield owner, name
    for store in analysis.syntax.written.attributes.get("__dict__", ()):
        if isinstance(store.ctx, ast.Store) and not analysis.names.is_self(store.value):
            yield store.value, ANY_NAME
    for owner, namespace in _namespaces(analysis):
        if _may_be_changed(namespace, analysis):
            yield owner, ANY_NAME


def _passes_on(owner: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a `__setattr__` runs that of its base class, `super().__setattr__(name, value)`."""
    function = analysis.syntax.function(owner)
    match owner:
        case ast.Call(func=ast.Name(id="super")):
            return function is not None and function.name in SETTERS
    return False


def _namespaces(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the objects of `vars(obj)` and `obj.__dict__`, each with the namespace or a variable that holds
    it.
    """
    written = analysis.syntax.written
    for namespace in (*written.calls_of(("vars",)), *written.attributes.get("__dict__", ())):
        if isinstance(namespace, ast.Call) and not namespace.args:
            continue
        owner = namespace.args[0] if isinstance(namespace, ast.Call) else namespace.value
        yield owner, namespace
        match analysis.syntax.parents.get(namespace):
            case ast.Assign(targets=[ast.Name(id=name) as target]):
                scope = analysis.syntax.scope(target).lookup(name)
                yield from ((owner, use) for use in analysis.syntax.variables.uses(name, scope))


def _may_be_changed(namespace: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a namespace is merged with another one, or other code may change it, which gets it, or its
    method.
    """
    parents = analysis.syntax.parents
    match parents.get(namespace):
        case ast.AugAssign(target=target):
            return target is namespace
        case ast.Attribute(attr=method) as bound:
            return method in _CHANGE and analysis.syntax.call_of(bound) is None
        case ast.Assign(targets=[ast.Name()]):
            return False  # the variable is followed
        case ast.Call(func=func) if func is not namespace:
            return not _only_reads(func, analysis)
        case ast.keyword(arg=str()) as keyword if isinstance(call := parents.get(keyword), ast.Call):
            return not _only_reads(call.func, analysis)
        case ast.keyword():
            return False  # `f(**vars(obj))` copies it
        case ast.Dict(values=values, keys=keys) if namespace in values:
            return keys[values.index(namespace)] is not None  # not copied by `{**vars(obj)}`
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
    return is_handed_on(namespace, parents)


def _only_reads(func: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a function that gets a namespace does not change it, nor keeps it for code that does."""
    path = analysis.names.qualified(func) or ""
    fact = models.callable_fact(path) if path != _CHAIN else None
    return fact is not None and not fact.effect.kind & (EffectKind.MUTATES | EffectKind.UNKNOWN)
