"""Datasets and collate functions that move data to a device, where the batches of loaders are then, too."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.models.value_type import Device, Type
from rlint.semantics.types.devices import is_device
from rlint.syntax.queries import target_of_move
from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import descendants

_GIVES_ITEMS = ("__getitem__", "__getitems__", "__iter__")


def moves_items(dataset: Type, module: str, syntax: SyntaxIndex, type_of: Callable[[ast.expr], Type]) -> bool:
    """Whether a dataset is of a class of this file, `module`, that moves each item to a device."""
    path = dataset.of.removesuffix("()")
    if not path.startswith(f"{module}."):
        return False
    name = path.removeprefix(f"{module}.")
    return any(
        _moves(node, type_of)
        for method in _GIVES_ITEMS
        if (function := syntax.functions.get(f"{name}.{method}")) is not None
        for node in descendants(function)
    )


def moves_batches(
    collate: Type, module: str, syntax: SyntaxIndex, type_of: Callable[[ast.expr], Type]
) -> bool:
    """Whether a collate function, or an object with such a method, of this file moves what it returns."""
    name = collate.of.removesuffix("()").removeprefix(f"{module}.")
    function = syntax.functions.get(name) or syntax.functions.get(f"{name}.__call__")
    return function is not None and any(_moves(node, type_of) for node in descendants(function))


def _moves(node: ast.AST, type_of: Callable[[ast.expr], Type]) -> bool:
    """Whether a call moves a tensor to a device that need not be the host."""
    match node:
        case ast.Call(func=ast.Attribute(attr="cuda")):
            return True
        case ast.Call(func=ast.Attribute(attr="to")):
            target = target_of_move(node)
            kind = type_of(target) if target is not None else None
            return target is not None and kind is not None and _may_be_accelerator(target, kind)
    return False


def _may_be_accelerator(target: ast.expr, kind: Type) -> bool:
    is_host = isinstance(target, ast.Constant) and target.value == "cpu"
    return not is_host and is_device(target, kind) and kind.device is not Device.HOST
