"""Switches that are on unless a caller turns them off."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Function, SemanticModel, defaults_of, descendants

_CONSTRUCTOR = "__init__"


def around_switches(statement: ast.stmt, model: SemanticModel) -> tuple[ast.stmt, str | None]:
    """Return the outermost statement around a call that only switches guard which are on by default: a
    parameter or an attribute of a parameter whose default is `True`. Also return the first of them.
    """
    first: str | None = None
    parent = model.parent(statement)
    while isinstance(parent, ast.If) and statement in parent.body and is_on(parent.test, model):
        first = first or model.source.text(parent.test)
        statement, parent = parent, model.parent(parent)
    return statement, first


def is_on(test: ast.expr, model: SemanticModel) -> bool:
    """Whether a test is a switch that is on by default."""
    match test:
        case ast.Name(id=name):
            function = model.function(test)
            return function is not None and _is_true_by_default(name, function)
        case ast.Attribute(value=owner, attr=attribute) if model.names.is_self(owner):
            cls = model.class_of(test)
            return cls is not None and attribute in model.once(_on_by_default, cls)
    return False


def _is_true_by_default(name: str, function: Function) -> bool:
    default = defaults_of(function.args).get(name)
    return isinstance(default, ast.Constant) and default.value is True


def _on_by_default(cls: ast.ClassDef, model: SemanticModel) -> frozenset[str]:
    """Return the attributes that only the constructor sets, to a parameter whose default is `True`, and the
    fields with this default.
    """
    constructor = next(
        (each for each in cls.body if isinstance(each, FUNCTIONS) and each.name == _CONSTRUCTOR), None
    )
    found: dict[str, bool] = {}
    for node in descendants(cls):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=value) if (
                model.names.is_self(owner)
            ):
                on = (
                    constructor is not None
                    and model.function(node) is constructor
                    and isinstance(value, ast.Name)
                    and _is_true_by_default(value.id, constructor)
                )
                found[name] = found.get(name, True) and on
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=True)) if node in cls.body:
                found.setdefault(name, True)  # a field of a dataclass
    return frozenset(name for name, on in found.items() if on)
