"""Arrays and containers that the constructor of an object fills, and that no method modifies later."""

from __future__ import annotations

import ast

from rlint.rule import EscapeLevel, SemanticModel, Trait, Type, TypeTag, algebra, models

_DATA = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT, TypeTag.SET})
_ARRAYS = (TypeTag.NDARRAY, TypeTag.TENSOR)
_LEARNED = ("Parameter", "requires_grad")
_REGISTERS = models.having(Trait.ADDS_PART, TypeTag.MODULE)
_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "builtins.set", "collections.deque"})
_DEPTH = 3


def is_unchanging_data(node: ast.Attribute, model: SemanticModel) -> bool:
    """Whether `self.x` holds an array, a container of arrays and numbers, or a value of unknown type that is
    only read, which the constructor alone assigns, and which no code of the file modifies afterwards. Trained
    tensors change.
    """
    cls = model.class_of(node)
    if cls is None or not model.names.is_self(node.value):
        return False
    kind = model.types.type_of(node)
    if kind and (kind.tag not in _DATA or not _is_of_plain_items(kind, _DEPTH)):
        return False
    return model.once(_kept_by, (cls, node.attr)) and model.types.is_setting(node)


def _is_of_plain_items(kind: Type, depth: int) -> bool:
    """Whether the items of a container are arrays, numbers or the like, rather than objects with state."""
    if kind.tag in _ARRAYS or algebra.is_immutable(kind):
        return True
    if kind.tag not in _DATA or depth == 0:
        return False
    parts = [*kind.parts, *([kind.item] if kind.item is not None else [])]
    return bool(parts) and all(_is_of_plain_items(part, depth - 1) for part in parts)


def _is_fixed(kind: Type) -> bool:
    parts = [*kind.parts, *([kind.item] if kind.item is not None else [])]
    return bool(parts) and all(map(algebra.is_immutable, parts))


def _kept_by(key: tuple[ast.ClassDef, str], model: SemanticModel) -> bool:
    cls, attribute = key
    summary = model.module.classes.get(model.syntax.qualname(cls))
    if summary is None:
        return False
    others = [each for each in model.index.subclasses(summary) if each.module != summary.module]
    if others and model.program.is_read_in_other_file(attribute, cls):
        return False
    is_network = model.index.class_kind(summary).tag is TypeTag.MODULE
    uses = model.names.attribute_uses(attribute)
    if all(_starts_empty(use, model) for use in uses if _is_set_up(use, model)):
        return False  # code that is not seen fills it later
    for use in uses:
        if not isinstance(use.ctx, ast.Load):
            value = model.names.assigned(use)
            if value is not None and _is_learned(value, model):
                return False
            if is_network and value is not None and model.types.type_of(value).tag is not TypeTag.NDARRAY:
                return False
            continue
        if isinstance(model.parent(use), ast.AugAssign):
            return False
        if _is_set_up(use, model):
            continue
        kind = model.types.type_of(use)
        if kind.tag is TypeTag.TUPLE and _is_fixed(kind):
            continue
        level = model.dataflow.use_of(use).escape_level
        if level > (EscapeLevel.KEPT if kind else EscapeLevel.READ) or level is EscapeLevel.HANDED:
            return False  # an object of unknown type may change in its methods
    return True


def _is_set_up(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a constructor uses the attribute of its own object."""
    in_construction: bool = model.usage.is_in_construction(use)
    return in_construction and model.names.is_self(use.value)


def _starts_empty(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a constructor assigns an empty list or dictionary to the attribute."""
    match model.names.assigned(use) if isinstance(use.ctx, ast.Store) else None:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=func, args=[]):
            return model.names.qualified(func) in _CONTAINERS
    return False


def _is_learned(value: ast.expr, model: SemanticModel) -> bool:
    text = model.source.text(value)
    return any(word in text for word in _LEARNED)
