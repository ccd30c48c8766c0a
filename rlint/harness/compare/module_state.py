"""State of a program's modules: global names, and the attributes of their classes and functions."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

from rlint.harness.compare.snapshot import Node, Root, TooManyObjectsError, Walker
from rlint.harness.program import Arm

KIND = "module state"
TOO_MUCH = "too much to compare"
_MOST_NODES = 2_000
_MOST_BYTES = 4 * 2**20
_ROUTINES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, staticmethod, classmethod, property,
)  # fmt: skip


def module_state(arm: Arm) -> dict[str, Root]:
    """Return all of it by path: `train.TOTAL`, `train.Buffer.count`, `train.act.calls`.

    An object too large to compare after each run is a node without contents.
    """
    found = {}
    for path, value in _held(arm.own_modules):
        walker = Walker(_MOST_NODES)
        try:
            child = walker.walk(value)
        except TooManyObjectsError:
            child = Node(TOO_MUCH)
        if walker.data_bytes() > _MOST_BYTES:
            child = Node(TOO_MUCH)
        found[path] = Root(child, KIND)
    return found


def _held(modules: Mapping[str, types.ModuleType]) -> Iterator[tuple[str, Any]]:
    for module in modules.values():
        for name, value in list(vars(module).items()):
            if _is_dunder(name) or isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
                continue
            path = f"{module.__name__}.{name}"
            own = getattr(value, "__module__", None) == module.__name__
            if isinstance(value, type):
                if own:
                    yield from _class_attributes(path, value)
            elif isinstance(value, types.FunctionType):
                if own:
                    yield from _function_attributes(path, value)
            else:
                yield path, value


def _class_attributes(path: str, found: type) -> Iterator[tuple[str, Any]]:
    for name, value in list(vars(found).items()):
        if isinstance(value, types.FunctionType):
            yield from _function_attributes(f"{path}.{name}", value)
        elif (
            not _is_dunder(name)
            and not name.startswith("_abc_")
            and not isinstance(value, (type, *_ROUTINES))
        ):
            yield f"{path}.{name}", value


def _function_attributes(path: str, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(function).items():
        if not _is_dunder(name):
            yield f"{path}.{name}", value
    if function.__defaults__:
        yield f"{path}.__defaults__", function.__defaults__
    if function.__kwdefaults__:
        yield f"{path}.__kwdefaults__", function.__kwdefaults__


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_too_much(root: Root) -> bool:
    """Whether an object is too large to compare."""
    return isinstance(root.child, Node) and root.child.type == TOO_MUCH
