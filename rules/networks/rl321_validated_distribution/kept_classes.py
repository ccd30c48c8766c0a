"""Classes of distributions that a variable or an attribute holds until an instance is created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import FUNCTIONS, Binding, BindingKind, SemanticModel, defaults_of

_DEPTH = 3
_MOST_BASES = 6


def kept_classes(called: ast.expr, model: SemanticModel) -> list[str]:
    """Return the dotted names of all classes or functions that a callee may be, if a variable or an attribute
    of `self` holds them: `dist_class = Normal if continuous else Categorical`, or a parameter by its default.
    Empty if one of them is not known.
    """
    names: dict[str, None] = {}
    for value in _values(called, model):
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
        case ast.Name() | ast.Attribute():
            qualified = model.names.qualified(value)
            if qualified is not None:
                names[qualified] = None
                return True
            values = list(_values(value, model)) if depth else []
            return bool(values) and all(_take_in(each, names, model, depth - 1) for each in values)
    return False
