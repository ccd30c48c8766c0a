"""Annotations that a call of the program contradicts: no fix may depend on them."""

from __future__ import annotations

import ast

from rlint.edit.deferred_edit import new_words
from rlint.findings import Edit, Fix
from rlint.models.value_type import TypeTag
from rlint.semantics.model import SemanticModel
from rlint.syntax.queries import axes_of
from rlint.syntax.syntax_index import FUNCTIONS, Function
from rlint.syntax.walk import descendants

_COPYING = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.LIST})
"""Types of an index with which an array gives a copy of its items."""


def broken_promise_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return the parameter on which a fix depends and for which a call passes another type than its
    annotation.
    """
    own = [edit for edit in fix.edits if not edit.shared] or list(fix.edits)
    for function in (*model.syntax.of_type(ast.FunctionDef), *model.syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(function, FUNCTIONS)
        start, end = model.source.span(function)
        inside = [edit for edit in own if start <= edit.start and edit.end <= end]
        if not inside:
            continue
        name = _broken(function, inside, model) or _kept_in_attribute(function, inside, model)
        if name is not None:
            return f"a call passes another type for `{name}` than its annotation says"
        name = _unproven_index(function, inside, model)
        if name is not None:
            return f"a call may pass a number or a slice for `{name}`, which selects a view, not a copy"
    return None


def _broken(function: Function, edits: list[Edit], model: SemanticModel) -> str | None:
    broken = _broken_parameters(function, model)
    if not broken:
        return None
    used = _used(function, edits, model)
    return next((name for name in broken if name in used), None)


def _unproven_index(function: Function, edits: list[Edit], model: SemanticModel) -> str | None:
    """Return the parameter by which a statement of the fix indexes a NumPy array, if its annotation promises
    an array but not every call is known to pass one.
    """
    arguments = function.args
    path = f"{model.symbols.module.module}.{model.syntax.qualname(function)}"
    unproven = set()
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.annotation is not None:
            types = model.analysis.types
            promised = types.resolved(types.promised(parameter, function))
            if promised.tag in _COPYING and not model.index.passed_arguments.is_passed_only(
                path, parameter.arg, promised
            ):
                unproven.add(parameter.arg)
    return next(
        (
            part.id
            for node in (descendants(function) if unproven else ())
            if isinstance(node, ast.Subscript) and model.types.type_of(node.value).tag is TypeTag.NDARRAY
            if _is_in_edit(model.syntax.statement(node), edits, model)
            for part in axes_of(node.slice)
            if isinstance(part, ast.Name) and part.id in unproven
        ),
        None,
    )


def _broken_parameters(function: Function, model: SemanticModel) -> list[str]:
    """Return the parameters of a function for which a call passes another type than annotated."""
    arguments = function.args
    path = f"{model.symbols.module.module}.{model.syntax.qualname(function)}"
    broken = []
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.annotation is not None:
            types = model.analysis.types
            promised = types.resolved(types.promised(parameter, function))
            if promised and model.index.passed_arguments.is_passed_otherwise(path, parameter.arg, promised):
                broken.append(parameter.arg)
    return broken


def _kept_in_attribute(function: Function, edits: list[Edit], model: SemanticModel) -> str | None:
    """Return the parameter of a method, such as the constructor, that is stored in an attribute which a fix
    in another method names.
    """
    cls = model.class_of(function)
    kept: dict[str, str] = model.once(_broken_attributes, cls) if cls is not None else {}
    if not kept:
        return None
    named = {
        node.attr
        for node in descendants(function)
        if isinstance(node, ast.Attribute) and model.names.is_self(node.value)
        if _is_in_edit(node, edits, model)
    } | new_words(edits)
    return next((parameter for attribute, parameter in kept.items() if attribute in named), None)


def _broken_attributes(cls: ast.ClassDef, model: SemanticModel) -> dict[str, str]:
    """Return the attributes in which methods of a class store parameters for which a call passes another type
    than annotated, with the parameters.
    """
    found: dict[str, str] = {}
    for method in cls.body:
        broken = _broken_parameters(method, model) if isinstance(method, FUNCTIONS) else []
        stored = [node for node in descendants(method) if isinstance(node, ast.Assign)] if broken else []
        for statement in stored:
            given = {node.id for node in descendants(statement.value) if isinstance(node, ast.Name)}
            parameter = next((name for name in broken if name in given), None)
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and parameter is not None:
                    found.setdefault(target.attr, parameter)
    return found


def _is_in_edit(node: ast.AST, edits: list[Edit], model: SemanticModel) -> bool:
    start, end = model.source.span(node)
    return any(edit.start <= end and start <= edit.end for edit in edits)


def _used(function: Function, edits: list[Edit], model: SemanticModel) -> set[str]:
    """Return the variables that a fix names, and those that they are computed from."""
    nodes = [
        node for node in descendants(function) if isinstance(node, (ast.Name, ast.Assign, ast.NamedExpr))
    ]
    used = new_words(edits)
    for node in nodes:
        if isinstance(node, ast.Name) and _is_in_edit(node, edits, model):
            used.add(node.id)
    while True:
        more = {
            name.id
            for node in nodes
            if not isinstance(node, ast.Name) and used.intersection(_targets(node))
            for name in descendants(node.value)
            if isinstance(name, ast.Name)
        }
        if more <= used:
            return used
        used |= more


def _targets(node: ast.Assign | ast.NamedExpr) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {
        each.id
        for target in targets
        for each in descendants(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
