"""Classes of distributions that a variable or an attribute holds until an instance is created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import FUNCTIONS, Binding, BindingKind, SemanticModel, defaults_of

_DEPTH = 3
_MOST_BASES = 6
_PACKAGE = "torch.distributions"
ANY_DISTRIBUTION = f"{_PACKAGE}.Distribution"
"""Stands for a class that `getattr(torch.distributions, name)` selects."""


def kept_classes(called: ast.expr, model: SemanticModel) -> list[str]:
    """Return the dotted names of all classes or functions that a callee may be, if a variable or an attribute
    of `self` holds them: `dist_class = Normal if continuous else Categorical`, a parameter by its default, an
    item of a dict of classes, or what `getattr` selects. Empty if one of them is not known.
    """
    names: dict[str, None] = {}
    selected = isinstance(called, (ast.Subscript, ast.Call))
    for value in [called] if selected else _values(called, model):
        if not _take_in(value, names, model, _DEPTH):
            return []
    return list(names)


def _values(called: ast.expr, model: SemanticModel) -> Iterator[ast.expr | None]:
    """Yield all values of the called expression's variable; None for other bindings."""
    match called:
        case ast.Name():
            for binding in model.dataflow.definitions(called):
                simple = binding.kind is BindingKind.ASSIGN and not binding.path
                yield binding.value if simple else default_of(binding)
        case ast.Attribute(value=owner, attr=attribute) if model.names.is_self(owner):
            family = _family(called, model)
            for use in model.names.attribute_uses(attribute):
                if not isinstance(use.ctx, ast.Load) and model.class_of(use) in family:
                    yield model.names.assigned(use)


def default_of(binding: Binding) -> ast.expr | None:
    """Return the default of a parameter."""
    function, parameter = binding.statement, binding.node
    if binding.kind is not BindingKind.PARAMETER or not isinstance(function, FUNCTIONS):
        return None
    return defaults_of(function.args).get(parameter.arg) if isinstance(parameter, ast.arg) else None


def defaulted(called: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> str | None:
    """Return the parameter whose default determines the called variable or attribute, if any."""
    if isinstance(called, ast.Name):
        for binding in model.dataflow.definitions(called):
            if default_of(binding) is not None:
                return binding.name
    found = (defaulted(value, model, depth - 1) for value in _values(called, model) if value is not None)
    return next(filter(None, found), None) if depth else None


def _family(node: ast.AST, model: SemanticModel) -> list[ast.ClassDef]:
    """Return the class around a node, and its bases in this file by name."""
    own = model.class_of(node)
    family = [own] if own is not None else []
    for cls in family:
        for base in cls.bases if len(family) <= _MOST_BASES else ():
            scope = model.names.scope(cls).lookup(base.id) if isinstance(base, ast.Name) else None
            for binding in scope.bindings.get(base.id, ()) if scope and isinstance(base, ast.Name) else ():
                if isinstance(binding.node, ast.ClassDef) and binding.node not in family:
                    family.append(binding.node)
    return family


def _take_in(value: ast.expr | None, names: dict[str, None], model: SemanticModel, depth: int) -> bool:
    """Add the names of the classes that a value may be. Return False if it may be anything else."""
    match value:
        case ast.IfExp(body=body, orelse=orelse) if depth:
            return all(_take_in(each, names, model, depth - 1) for each in (body, orelse))
        case ast.Call(func=ast.Name(id="getattr"), args=[module, _]) if (
            model.names.qualified(module) == _PACKAGE
        ):
            names[ANY_DISTRIBUTION] = None
            return True
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_]):
            classes = _items_of(table, model) if depth else []
            return bool(classes) and all(_take_in(each, names, model, depth - 1) for each in classes)
        case ast.Name() | ast.Attribute():
            qualified = model.names.qualified(value)
            if qualified is not None:
                names[qualified] = None
                return True
            values = list(_values(value, model)) if depth else []
            return bool(values) and all(_take_in(each, names, model, depth - 1) for each in values)
    return False


def _items_of(table: ast.expr, model: SemanticModel) -> list[ast.expr]:
    """Return the values of a dict that a variable or an attribute holds; empty if they are not known."""
    shown = [table] if isinstance(table, ast.Dict) else list(_shown_dicts(table, model))
    items: list[ast.expr] = []
    for value in shown:
        if not isinstance(value, ast.Dict) or None in value.keys:
            return []
        items += value.values
    return items


def _shown_dicts(table: ast.expr, model: SemanticModel) -> Iterator[ast.expr | None]:
    """Yield all values of a table of classes, if nothing stores an item in it."""
    match table:
        case ast.Name(id=name):
            scope = model.names.scope(table).lookup(name)
            used = model.names.uses(name, scope) if scope is not None else []
            yield from [None] if any(_is_store(model.parent(use)) for use in used) else _values(table, model)
        case ast.Attribute():
            yield from _values(table, model)


def _is_store(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
