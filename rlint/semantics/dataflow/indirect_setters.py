"""Attributes set by a function that is not called by its name with an object and a name, such as
`setattr(obj, *item)`, `put = setattr` and `put = obj.__setattr__`, and namespaces that other code changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.qualified_names import is_class
from rlint.semantics.types.algebra import OPTIONS

_SETTERS = ("__setattr__", "__delattr__")


def sets_indirectly(analysis: FileAnalysis) -> bool:
    """Whether a file may set attributes of objects by a setter or a namespace that it passes on."""
    text = analysis.syntax.text
    if not any(word in text for word in ("setattr", "delattr", "__dict__", "vars")):
        return False
    return any(True for _ in _passed_setters(analysis)) or any(
        _changes(namespace, analysis) for namespace in _namespaces(analysis)
    )


def _passed_setters(analysis: FileAnalysis) -> Iterator[ast.expr]:
    """Yield the uses of a setter other than plain calls."""
    syntax = analysis.syntax
    named = (use for name in ("setattr", "delattr") for use in syntax.variables.uses(name, None))
    bound = (use for name in _SETTERS for use in syntax.written.attributes.get(name, ()))
    for use in (*named, *bound):
        if not isinstance(use, (ast.Name, ast.Attribute)) or not isinstance(use.ctx, ast.Load):
            continue
        call = syntax.parents.get(use)
        is_called = isinstance(call, ast.Call) and call.func is use
        if not is_called or (isinstance(use, ast.Name) and _unpacks(call)):
            yield use


def _unpacks(call: ast.AST | None) -> bool:
    """Whether a call unpacks an argument after the first."""
    return isinstance(call, ast.Call) and any(isinstance(each, ast.Starred) for each in call.args[1:])


def _namespaces(analysis: FileAnalysis) -> Iterator[ast.expr]:
    """Yield `vars(obj)` and `obj.__dict__`, and the variables that hold one of them."""
    written = analysis.syntax.written
    for namespace in (*written.calls_of(("vars",)), *written.attributes.get("__dict__", ())):
        if isinstance(namespace, ast.Call) and not namespace.args:
            continue
        owner = namespace.args[0] if isinstance(namespace, ast.Call) else namespace.value
        if not may_be_of_project(owner, analysis):
            continue
        yield namespace
        match analysis.syntax.parents.get(namespace):
            case ast.Assign(targets=[ast.Name(id=name) as target]):
                scope = analysis.syntax.scope(target).lookup(name)
                yield from analysis.syntax.variables.uses(name, scope)


def _changes(namespace: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a namespace is merged with another one, or given to a function of the project."""
    match analysis.syntax.parents.get(namespace):
        case ast.AugAssign(target=target):
            return target is namespace
        case ast.Call(func=func, args=args) if namespace in args:
            if isinstance(func, ast.Attribute) and analysis.names.qualified(func) is None:
                return False  # of an unknown object, such as a logger
            path = analysis.names.qualified(func) or ""
            return not (path.startswith("builtins.") or models.is_library(path) or is_class(path))
    return False


def may_be_of_project(owner: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether an object may be of a class of the project, and not only of libraries or the options of a
    command line.
    """
    kind = analysis.types.type_of(owner)
    if kind:
        is_instance = kind.tag in (TypeTag.INSTANCE, TypeTag.MODULE) and bool(kind.of)
        return is_instance and not models.is_library(kind.of) and not kind.of.endswith(OPTIONS)
    return not (isinstance(owner, ast.Name) and _is_of_library(owner, analysis))


def _is_of_library(name: ast.Name, analysis: FileAnalysis) -> bool:
    """Whether a variable only holds objects of classes of libraries: `argparse.Namespace()`. Functions of
    libraries may create objects of the project: `object.__new__(Policy)`, `copy.copy(policy)`.
    """
    made = analysis.definitions.reaching(name)
    return bool(made) and all(
        isinstance(each.value, ast.Call)
        and not each.path
        and is_class(path := analysis.names.qualified(each.value.func) or "")
        and models.is_library(path)
        for each in made
    )
