"""Copies of nested containers that the program fills item by item, so that each copy takes longer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Heat, SemanticModel, Trait, Type, TypeTag, algebra, models

_CONTAINERS = (TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE)
_INSERTS = models.having(Trait.INSERTS | Trait.INSERTS_ALL, *_CONTAINERS)
_SHOWN = {TypeTag.LIST: "list", TypeTag.DICT: "dict", TypeTag.SET: "set", TypeTag.DEQUE: "deque"}


def growing_containers(value: ast.expr, kind: Type, model: SemanticModel) -> str | None:
    """Return the code that copies only the containers of a list or dict of containers that grow while the
    program runs; None if the value is not known to be one.
    """
    item = kind.item
    if kind.tag not in (TypeTag.LIST, TypeTag.DICT) or item is None or item.tag not in _CONTAINERS:
        return None
    if not any(_runs_often(insertion, model) for insertion in _insertions(value, model)):
        return None
    text = " ".join(model.source.text(value).split())
    if kind.tag is TypeTag.DICT:
        return f"{{key: {_copied('items', item)} for key, items in {text}.items()}}"
    return f"[{_copied('items', item)} for items in {text}]"


def _copied(text: str, kind: Type) -> str:
    return f"{_SHOWN[kind.tag]}({text})" if kind.tag is not TypeTag.DEQUE else f"{text}.copy()"


def _insertions(value: ast.expr, model: SemanticModel) -> Iterator[ast.Call]:
    """Yield the calls of this file that insert an item into a container within the one that is copied."""
    copied = _without_places(value)
    for method in _INSERTS:
        for call in model.names.calls_by_name.get(method, []):
            match call.func:
                case ast.Attribute(value=ast.Subscript() as filled):
                    if _is_same(_without_places(filled), copied, model):
                        yield call


def _is_same(filled: ast.expr, copied: ast.expr, model: SemanticModel) -> bool:
    """Whether two expressions likely are the same container: an attribute of the same name, or the same
    variable of one function.
    """
    match filled, copied:
        case ast.Attribute(attr=first), ast.Attribute(attr=second):
            return first == second
        case ast.Name(id=first), ast.Name(id=second):
            return first == second and model.function(filled) is model.function(copied)
    return False


def _without_places(value: ast.expr) -> ast.expr:
    """Return `self.rows` for `self.rows[i][j]`."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value


def _runs_often(insertion: ast.Call, model: SemanticModel) -> bool:
    """Whether an insertion runs in each step or in a loop, and inserts more than a fixed constant."""
    given = insertion.args[0] if insertion.args else None
    if given is None or (
        algebra.is_immutable(model.types.type_of(given)) and isinstance(given, ast.Constant)
    ):
        return False
    return model.frequency.heat_of(insertion).level is Heat.HOT or bool(model.frequency.loops(insertion))
