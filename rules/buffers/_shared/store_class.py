"""Classes that store transitions, by their code or by their names."""

from __future__ import annotations

import ast
import re

from rlint.rule import FUNCTIONS, SemanticModel, TypeTag, descendants, regex

_NAMED = regex(r"buffer|memory|replay|storage|experience|trajector", re.IGNORECASE)

_FIELDS = 3
"""A transition has at least so many fields."""


def is_store_class(cls: ast.ClassDef | None, model: SemanticModel) -> bool:
    """Whether a class stores transitions: by its name, or because it writes rows to a moving index, or
    appends to several lists from which it samples.
    """
    return cls is not None and (
        bool(_NAMED.search(cls.name)) or model.once(_writes_a_ring, cls) or model.once(_appends_fields, cls)
    )


def _appends_fields(cls: ast.ClassDef, _: SemanticModel) -> bool:
    """Whether a method appends one value each to several attributes, and another one samples."""
    methods = [method for method in cls.body if isinstance(method, FUNCTIONS)]
    return any("sample" in method.name for method in methods) and any(
        len({target for node in descendants(method) if (target := _appended(node))}) >= _FIELDS
        for method in methods
        if method.name != "__init__"
    )


def _appended(node: ast.AST) -> str:
    """Return what a call appends to: `states` of `self.states.append(state)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=attr), attr="append"),
            args=[_],
        ):
            return attr
    return ""


def _writes_a_ring(cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether a method writes `self.rows[self.position] = …` and then moves `self.position` on."""
    return any(
        _writes_row(node, method, model)
        for method in cls.body
        if isinstance(method, FUNCTIONS) and method.name != "__init__"
        for node in descendants(method)
    )


def _writes_row(node: ast.AST, method: ast.AST, model: SemanticModel) -> bool:
    match node:
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=ast.Attribute(value=ast.Name(id="self")) as rows,
                    slice=ast.Attribute(value=ast.Name(id="self"), attr=position),
                )
            ]
        ):
            kind = model.types.type_of(rows)
            if kind and kind.tag not in (TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.LIST):
                return False
            return any(_moves_on(other, position) for other in descendants(method))
    return False


def _moves_on(node: ast.AST, position: str) -> bool:
    match node:
        case (
            ast.AugAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=attr), op=ast.Add())
            | ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=ast.BinOp(op=ast.Mod() | ast.Add()),
            )
        ):
            return attr == position
    return False
