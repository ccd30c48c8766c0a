"""Nodes of Python's own objects and of instances of a program's classes."""

from __future__ import annotations

import array
import collections
import ctypes
import enum
import functools
import io
import logging
import random
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

from rlint.harness.compare.random_streams import python_stream
from rlint.harness.compare.shared_memory import Extent
from rlint.harness.compare.snapshot import Child, Filler, Node, ObjectFact, Walker
from rlint.harness.compare.texts import name_of
from rlint.harness.compare.values import SCALARS, TextData

_NAMED = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.MethodWrapperType, types.ModuleType, type,
    types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, functools._lru_cache_wrapper,
)  # fmt: skip
"""Types of objects that are identified by their names."""
_OPAQUE = (
    types.CodeType, types.FrameType, types.TracebackType, types.CellType, property, staticmethod, classmethod,
    io.IOBase, threading.Thread, type(threading.Lock()), type(threading.RLock()), threading.local,
    weakref.ReferenceType, weakref.ProxyTypes[0], weakref.ProxyTypes[1], logging.Handler,
)  # fmt: skip
"""Types whose objects can only be compared by type."""
_OPAQUE_IN_OTHER_MODULES = (
    ("socket", "socket"),
    ("subprocess", "Popen"),
    ("concurrent.futures", "Executor"),
    ("multiprocessing.process", "BaseProcess"),
    ("multiprocessing.synchronize", "SemLock"),
    ("multiprocessing.connection", "_ConnectionBase"),
    ("asyncio.events", "AbstractEventLoop"),
    ("contextvars", "ContextVar"),
)


def _opaque(node: Node, value: Any, walker: Walker) -> bool:  # noqa: ARG001 - a filler
    if isinstance(value, (io.StringIO, io.BytesIO)):
        node.mutable = True
        node.parts[".getvalue()"] = None if value.closed else value.getvalue()
        return True
    if isinstance(value, _NAMED):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        node.data = TextData(f"{getattr(value, '__module__', '') or ''}.{name}".lstrip("."))
        return True
    if isinstance(value, logging.Logger):
        node.data = TextData(value.name, literal=True)
        return True
    return isinstance(value, _OPAQUE) or any(
        isinstance(value, getattr(sys.modules[module], name))
        for module, name in _OPAQUE_IN_OTHER_MODULES
        if hasattr(sys.modules.get(module), name)
    )


def _plain(node: Node, value: Any, walker: Walker) -> bool:
    """Complete the node of an immutable Python object, or of a random generator."""
    if isinstance(value, enum.Enum):
        node.data = TextData(_member_name(value))
    elif isinstance(value, random.Random):
        node.mutable, node.kind, node.data = True, "random stream", python_stream(value)
    elif isinstance(value, (range, slice)) or value is Ellipsis or value is NotImplemented:
        node.data = TextData(repr(value))
    elif isinstance(value, (bool, int, float, complex, str, bytes)):  # of a subclass
        node.parts[""] = _as_base(value)
        _attributes(node, value, walker)
    elif isinstance(value, (memoryview, bytearray, array.array)):
        _buffer(node, value)
    else:
        return False
    return True


def _as_base(value: Any) -> Child:
    """Return the value of an object whose class derives from a builtin type, without calling methods of that
    class.
    """
    if isinstance(value, (str, bytes)):
        return str.__str__(value) if isinstance(value, str) else bytes(memoryview(value))
    if isinstance(value, float):
        return float.__pos__(value)
    return complex.__pos__(value) if isinstance(value, complex) else int.__pos__(value)


def _buffer(node: Node, value: Any) -> None:
    node.mutable = True
    if isinstance(value, memoryview):
        node.facts = [
            ObjectFact("dtype", ".format", value.format),
            ObjectFact("shape", ".shape", value.shape),
        ]
        node.parts[""] = value.tobytes()
        return
    if isinstance(value, array.array):
        node.facts = [ObjectFact("dtype", ".typecode", value.typecode)]
    if len(value):
        raw = (ctypes.c_char * (len(value) * getattr(value, "itemsize", 1))).from_buffer(value)
        node.extent = Extent("host", ctypes.addressof(raw), 1, (len(raw),), (1,))
    node.parts[""] = bytes(value)


def _containers(node: Node, value: Any, walker: Walker) -> bool:
    node.mutable = not isinstance(value, (tuple, frozenset, types.MappingProxyType))
    if isinstance(value, list):
        node.items = walker.children(list.__iter__(value))
    elif isinstance(value, tuple):
        node.items = walker.children(tuple.__iter__(value))
        names = getattr(type(value), "_fields", ())
        if len(names) == len(node.items):
            node.names = tuple(names)
    elif isinstance(value, collections.deque):
        node.facts.append(ObjectFact("attribute", ".maxlen", value.maxlen))
        node.items = walker.children(collections.deque.__iter__(value))
    elif isinstance(value, (set, frozenset)):
        node.parts.update(_members(value, walker))
    elif isinstance(value, collections.OrderedDict):
        _entries(node, collections.OrderedDict.items(value), walker)
    elif isinstance(value, (dict, types.MappingProxyType)):
        _entries(node, dict.items(value) if isinstance(value, dict) else value.items(), walker)
        if isinstance(value, collections.defaultdict):
            node.parts[".default_factory"] = walker.child(value.default_factory)
    elif isinstance(value, (type({}.keys()), type({}.values()), type({}.items()))):
        node.items = walker.children(value)
    else:
        node.mutable = False
        return False
    _attributes(node, value, walker)
    return True


def _entries(node: Node, entries: Any, walker: Walker) -> None:
    for index, (key, entry) in enumerate(entries):
        text = key_text(key)
        if text is None:  # an object, identified by its position
            text = f"key {index}"
            node.parts[f"[{text}] as a key"] = walker.child(key)
        node.parts[f"[{text}]"] = walker.child(entry)


def _members(value: Any, walker: Walker) -> Iterator[tuple[str, Child]]:
    """Yield the members of a set in an order that does not depend on their addresses."""
    described = {text: member for member in value if (text := key_text(member)) is not None}
    for text in sorted(described):
        walker.count(1)
        yield f"{{{text}}}", None
    others = [member for member in value if key_text(member) is None]
    for index, member in enumerate(sorted(others, key=lambda one: name_of(type(one)))):
        yield f"{{object {index}}}", walker.child(member)


def _member_name(value: enum.Enum) -> str:
    name = type(value).__qualname__
    # Combined flags may have no name.
    return f"{name}.{value._name_}" if value._name_ else f"{name}({value._value_!r})"


def key_text(key: Any) -> str | None:
    """Return the text that identifies a dict key, if its value suffices for that."""
    if type(key) in SCALARS:
        return repr(key)
    if isinstance(key, enum.Enum):
        return _member_name(key)
    if isinstance(key, type):
        return name_of(key)
    if type(key) in (tuple, frozenset):
        texts = [key_text(one) for one in key]
        known = [text for text in texts if text is not None]
        if len(known) < len(texts):
            return None
        if type(key) is frozenset:
            return f"frozenset({{{', '.join(sorted(known))}}})"
        return f"({', '.join(known)}{',' if len(known) == 1 else ''})"
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(key, numpy.generic):
        return f"{name_of(type(key))}({key.item()!r})"
    return None


def _objects(node: Node, value: Any, walker: Walker) -> bool:
    """Complete the node of an instance with its attributes."""
    node.mutable = True
    if isinstance(value, BaseException):
        node.parts[".args"] = walker.child(value.args)
    has_attributes = _attributes(node, value, walker)
    if not has_attributes and not isinstance(value, BaseException):
        _reduced(node, value, walker)
    return True


def _attributes(node: Node, value: Any, walker: Walker) -> bool:
    """Add the attributes of an object, and return whether its class has any."""
    found = False
    for base in type(value).__mro__:
        own = vars(base).get("__slots__")
        names = (own,) if isinstance(own, str) else tuple(own or ())
        for name in names:
            if name in ("__dict__", "__weakref__"):
                continue
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"  # noqa: PLW2901 - as the compiler does
            slot = vars(base).get(name)
            if isinstance(slot, types.MemberDescriptorType):
                found = True
                try:
                    node.parts[f".{name}"] = walker.child(slot.__get__(value))
                except AttributeError:  # empty
                    continue
    held = attributes_of(value)
    if held is not None:
        found = True
        for name, attribute in held.items():
            node.parts[f".{name}"] = walker.child(attribute)
    return found


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Return the `__dict__` of an object, if it has one."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return held if isinstance(held, dict) else None


def _reduced(node: Node, value: Any, walker: Walker) -> None:
    """Complete the node of an object without attributes from its pickled form, for classes written in C."""
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:  # noqa: BLE001 - whatever a class says when it cannot be pickled
        return
    if isinstance(reduced, str):
        node.data = TextData(reduced)
        return
    node.mutable = len(reduced) > 2 or type(value) is object
    for index, part in enumerate(reduced[1:]):
        whole = list(part) if index >= 2 and part is not None else part
        if index >= 2 or part is not None:
            node.parts[(".arguments", ".state", ".items", ".entries", ".setter")[index]] = walker.child(whole)


FILLERS: tuple[Filler, ...] = (_opaque, _plain, _containers, _objects)
