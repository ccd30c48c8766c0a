"""Infer the types of constants, displays, operators and subscripts."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import reduce
from typing import ClassVar

from rlint.models.value_type import PLAIN, UNKNOWN, Device, Type, TypeTag
from rlint.regex import regex
from rlint.semantics.types.algebra import (
    NUMBERS,
    arithmetic,
    device_named,
    indexed,
    is_hdf5,
    item_of,
    known_item,
)
from rlint.semantics.types.dtype_inference import DtypeInference, rank_of_two
from rlint.semantics.types.infer_base import Handlers
from rlint.syntax.queries import has_key

_MOST_PARTS = 16  # maximum number of elements of a tuple that are distinguished
_MOST_ITEMS = 64
_IS_WORD = regex(r"\w+")
_CONSTANTS: dict[type, TypeTag] = {
    bool: TypeTag.BOOL,
    int: TypeTag.INT,
    float: TypeTag.FLOAT,
    str: TypeTag.STR,
    bytes: TypeTag.BYTES,
    type(None): TypeTag.NONE,
}


_TEXTS = {device: Type(TypeTag.STR, device=device) for device in Device}
_OF_SEVERAL = frozenset({TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TENSOR, TypeTag.SLICE})
"""Types of an index that selects several items."""


class LiteralInference(DtypeInference):
    """Infers the type of an expression from its syntax and the types of its parts."""

    def _of_constant(self, node: ast.Constant) -> Type:
        if isinstance(node.value, str):
            return _TEXTS[device_named(node.value)]
        tag = _CONSTANTS.get(type(node.value))
        return PLAIN[tag] if tag is not None else UNKNOWN

    def _items(self, elements: list[ast.expr]) -> Type | None:
        if not elements or len(elements) > _MOST_ITEMS:
            return None
        return _joined(self.type_of(element).aged() for element in elements)

    def _of_list(self, node: ast.List) -> Type:
        return Type(TypeTag.LIST, item=self._items(node.elts), fresh=True)

    def _of_tuple(self, node: ast.Tuple) -> Type:
        parts: tuple[Type, ...] = ()
        if len(node.elts) <= _MOST_PARTS and not any(isinstance(part, ast.Starred) for part in node.elts):
            parts = tuple(self.type_of(part).aged() for part in node.elts)
        item = _joined(parts) if parts else self._items(node.elts)
        return Type(TypeTag.TUPLE, item=item, fresh=True, parts=parts)

    def _of_set(self, node: ast.Set) -> Type:
        return Type(TypeTag.SET, item=self._items(node.elts), fresh=True)

    def _of_dict(self, node: ast.Dict) -> Type:
        held = [
            self.type_of(value).aged() if key is not None else item_of(self.type_of(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        item = _joined(held) if held and len(held) <= _MOST_ITEMS else None
        keys = [
            key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
        if len(keys) < len(held) or len(set(keys)) < len(keys) or len(keys) > _MOST_PARTS:
            return Type(TypeTag.DICT, item=item, fresh=True)
        return Type(TypeTag.DICT, item=item, fresh=True, parts=tuple(held), keys=tuple(keys))

    def _of_list_comp(self, node: ast.ListComp) -> Type:
        return Type(TypeTag.LIST, item=known_item(self.type_of(node.elt).aged()), fresh=True)

    def _of_set_comp(self, _: ast.SetComp) -> Type:
        return Type(TypeTag.SET, fresh=True)

    def _of_dict_comp(self, node: ast.DictComp) -> Type:
        return Type(TypeTag.DICT, item=known_item(self.type_of(node.value).aged()), fresh=True)

    def _of_generator(self, node: ast.GeneratorExp) -> Type:
        return Type(TypeTag.ITERATOR, item=known_item(self.type_of(node.elt).aged()), fresh=True)

    def _of_text(self, node: ast.JoinedStr) -> Type:
        match node.values:
            case [ast.Constant(value=str(head)), *_]:  # f"cuda:{rank}"
                return _TEXTS[device_named(head)]
        return PLAIN[TypeTag.STR]

    def _of_binary(self, node: ast.BinOp) -> Type:
        kind = arithmetic(self.type_of(node.left), self.type_of(node.right), node.op)
        return self.computed(node, kind)

    def _of_unary(self, node: ast.UnaryOp) -> Type:
        if isinstance(node.op, ast.Not):
            return Type(TypeTag.BOOL)
        kind = self.type_of(node.operand)
        if kind.tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
            return Type(kind.tag, device=kind.device, fresh=True, dtype=kind.dtype, rank=kind.rank)
        return kind if kind.tag in NUMBERS else UNKNOWN

    def _of_compare(self, node: ast.Compare) -> Type:
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return Type(TypeTag.BOOL)
            sides = [self.type_of(node.left), self.type_of(node.comparators[0])]
            if TypeTag.NONE in (sides[0].tag, sides[1].tag) and TypeTag.TENSOR in (
                sides[0].tag,
                sides[1].tag,
            ):
                return Type(TypeTag.BOOL)  # a tensor is not compared with `None` by its elements
            for tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
                for side in sides:
                    if side.tag is tag:
                        return Type(
                            tag, device=side.device, fresh=True, dtype="bool", rank=rank_of_two(*sides)
                        )
            if all(side.tag in (*NUMBERS, TypeTag.STR) for side in sides):
                return Type(TypeTag.BOOL)
        return UNKNOWN

    def _of_conditional(self, node: ast.IfExp) -> Type:
        return self.type_of(node.body).joined(self.type_of(node.orelse))

    def _of_choice(self, node: ast.BoolOp) -> Type:
        kind = self.type_of(node.values[0])
        for value in node.values[1:]:
            kind = kind.joined(self.type_of(value))
        return kind

    def _of_lambda(self, node: ast.Lambda) -> Type:
        return Type(TypeTag.FUNCTION, item=known_item(self.type_of(node.body).aged()))

    def _of_walrus(self, node: ast.NamedExpr) -> Type:
        return self.type_of(node.value).aged()

    def _of_subscript(self, node: ast.Subscript) -> Type:
        owner = self.type_of(node.value)
        if owner.tag is TypeTag.TENSOR and has_key(node.slice):
            return UNKNOWN  # a likely tensor is not one then
        if owner.tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
            return self.part_of_array(owner, node.slice)
        step = self._index_step(node.slice)
        if is_hdf5(owner):
            return self._read_of_file(owner, node.slice, step)
        return indexed(owner, step)

    def _read_of_file(self, owner: Type, index: ast.expr, step: str) -> Type:
        """Return what an index gives of an HDF5 file: a group or a data set for a key, an array for a part of
        a data set, which is read into new memory.
        """
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return owner
        return Type(TypeTag.NDARRAY, fresh=True) if step == "[:]" else UNKNOWN

    def _index_step(self, index: ast.expr) -> str:
        """Return the step of an access path for an index: one item, a part, or unknown."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if any(isinstance(part, (ast.Slice, ast.List, ast.ListComp)) for part in parts):
            return "[:]"
        types = [self.type_of(part) for part in parts]
        if any(kind.tag in _OF_SEVERAL for kind in types):
            return "[:]"
        match index:
            case ast.Constant(value=int() as place) if not isinstance(place, bool):
                return f"[{place}]"
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as place)) if place:
                return f"[-{place}]"
            case ast.Constant(value=str() as key) if _IS_WORD.fullmatch(key):
                return f"['{key}']"
        return "[]" if all(kind.tag in (TypeTag.INT, TypeTag.STR, TypeTag.BOOL) for kind in types) else "[?]"

    HANDLERS: ClassVar[Handlers] = {
        ast.Constant: _of_constant,
        ast.List: _of_list,
        ast.Tuple: _of_tuple,
        ast.Set: _of_set,
        ast.Dict: _of_dict,
        ast.ListComp: _of_list_comp,
        ast.SetComp: _of_set_comp,
        ast.DictComp: _of_dict_comp,
        ast.GeneratorExp: _of_generator,
        ast.JoinedStr: _of_text,
        ast.BinOp: _of_binary,
        ast.UnaryOp: _of_unary,
        ast.Compare: _of_compare,
        ast.IfExp: _of_conditional,
        ast.BoolOp: _of_choice,
        ast.Lambda: _of_lambda,
        ast.NamedExpr: _of_walrus,
        ast.Subscript: _of_subscript,
    }


def _joined(types: Iterable[Type]) -> Type | None:
    """Return the type of a value that is any of these."""
    return known_item(reduce(Type.joined, types))
