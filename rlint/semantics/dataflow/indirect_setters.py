"""Attributes set by a setter that is not called with an object and a name: `setattr(obj, *item)`, `put =
setattr` and `put = obj.__setattr__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.qualified_names import is_class
from rlint.semantics.types.algebra import OPTIONS

SETTERS = ("__setattr__", "__delattr__")


def passes_setters(analysis: FileAnalysis) -> bool:
    """Whether a file may set attributes of any object by a setter that it passes on."""
    return any(True for _ in _passed_setters(analysis))


def _passed_setters(analysis: FileAnalysis) -> Iterator[ast.expr]:
    """Yield the uses of a setter other than plain calls."""
    syntax = analysis.syntax
    named = (use for name in ("setattr", "delattr") for use in syntax.variables.uses(name, None))
    bound = (use for name in SETTERS for use in syntax.written.attributes.get(name, ()))
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


def may_be_of_project(owner: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether an object may be of a class of the project, and not only of libraries or the options of a
    command line.
    """
    kind = analysis.types.type_of(owner)
    if kind:
        is_instance = kind.tag in (TypeTag.INSTANCE, TypeTag.MODULE) and bool(kind.of)
        return is_instance and not models.is_library(kind.of) and not kind.of.endswith(OPTIONS)
    if kind.of.endswith("()") and is_class(kind.of.removesuffix("()")) and models.is_library(kind.of):
        return False
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
