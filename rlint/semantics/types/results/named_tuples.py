"""Named tuples: their classes, instances, and the types of their fields."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.models.value_type import UNKNOWN, Type, TypeTag

NAMED_TUPLE = "collections.namedtuple"
_MOST_FIELDS = 16
_KEEPS = frozenset({"_make", "_replace"})

_OF_ANY_LENGTH = frozenset({TypeTag.ITERATOR, TypeTag.LIST, TypeTag.TUPLE})

TypeOf = Callable[[ast.expr], Type]


def class_made(node: ast.Call, result: Type) -> Type:
    """Return the class that `namedtuple("Transition", ("state", "action"))` creates, with the names of its
    fields.
    """
    given = node.args[1] if len(node.args) > 1 else None
    names: list[str] = []
    match given:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                if not isinstance(element, ast.Constant) or not isinstance(element.value, str):
                    return result
                names.append(element.value)
        case ast.Constant(value=str(text)):
            names = text.replace(",", " ").split()
    if not names or len(set(names)) < len(names) or len(names) > _MOST_FIELDS:
        return result
    return result._replace(keys=tuple(names))


def is_class(kind: Type) -> bool:
    """Whether a value is a class of named tuples with known fields."""
    return kind.tag is TypeTag.CLASS and bool(kind.keys)


def instance(cls: Type, node: ast.Call | None = None, type_of: TypeOf | None = None) -> Type:
    """Return the type of an instance. `Transition(*zip(*batch))` holds whole columns."""
    fields = dict.fromkeys(cls.keys, UNKNOWN)
    if node is None or type_of is None:
        return _tuple(fields)
    for place, value in enumerate(node.args):
        if isinstance(value, ast.Starred):
            kind = type_of(value.value)
            alone, parts = len(node.args) == 1 and not node.keywords, kind.parts
            if alone and len(parts) >= len(fields):
                fields = {name: part.aged() for name, part in zip(cls.keys, parts, strict=False)}
            elif alone and kind.tag in _OF_ANY_LENGTH and kind.item and not parts:
                fields = dict.fromkeys(cls.keys, kind.item.aged())
            else:
                fields = dict.fromkeys(cls.keys, UNKNOWN)
            return _tuple(fields)
        if place < len(cls.keys):
            fields[cls.keys[place]] = type_of(value).aged()
    for keyword in node.keywords:
        if keyword.arg in fields:
            fields[keyword.arg] = type_of(keyword.value).aged()
    return _tuple(fields)


def _tuple(fields: dict[str, Type]) -> Type:
    return Type(TypeTag.TUPLE, fresh=True, parts=tuple(fields.values()), keys=tuple(fields))


def field_of(owner: Type, name: str) -> Type:
    """Return the type of a field of a named tuple."""
    return owner.parts[owner.keys.index(name)] if name in owner.keys else UNKNOWN


def result_of_method(owner: Type, node: ast.Call, name: str, type_of: TypeOf) -> Type:
    """Return the type of a method call on a named tuple, or on its class."""
    if name == "_asdict" and owner.tag is TypeTag.TUPLE:
        return Type(TypeTag.DICT, fresh=True, parts=owner.parts, keys=owner.keys)
    if name == "_make" and len(node.args) == 1:
        return instance(owner, ast.Call(node.func, [ast.Starred(node.args[0])], []), type_of)
    if name == "_replace" and owner.tag is TypeTag.TUPLE:
        fields = dict(zip(owner.keys, owner.parts, strict=True))
        for keyword in node.keywords:
            if keyword.arg is None:
                return _tuple(dict.fromkeys(owner.keys, UNKNOWN))
            fields[keyword.arg] = type_of(keyword.value).aged()
        return _tuple({key: fields[key] for key in owner.keys})
    if name in _KEEPS:
        return _tuple(dict.fromkeys(owner.keys, UNKNOWN))
    return UNKNOWN
