"""Summaries as plain data, to be kept from one run to the next.

A summary is a tree of records, tuples and names in which much is said again and again. It is packed as a
list of leaves (texts, numbers) and nodes, each of which says of what sort it is and which of those before it
it is made of: what is equal is packed and unpacked once. Reading it makes records of rlint's own plain
classes, and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import zlib
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from rlint.enums import Enum
from rlint.semantics.interprocedural.summary import ModuleSummary

_PACKAGES = ("rlint.semantics.", "rlint.models.", "rlint.findings")
_FAST = 1  # level of compression
_MOST_BYTES = 200_000_000

_PLAIN: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "set": set,
    "dict": lambda items: dict(zip(items[::2], items[1::2], strict=True)),
}


class UnpackError(ValueError):
    """The bytes are not those of a summary."""


def pack(summary: ModuleSummary) -> bytes:
    """Return a summary as bytes. Raises TypeError for one that holds what is no plain data."""
    packer = _Packer(summary)
    said = {"sorts": packer.sorts, "values": packer.values}
    return zlib.compress(json.dumps(said, separators=(",", ":")).encode("ascii"), _FAST)


def unpack(data: bytes) -> ModuleSummary:
    """Return the summary that `pack` was given. Raises UnpackError."""
    try:
        inflater = zlib.decompressobj()
        said = json.loads(inflater.decompress(data, _MOST_BYTES))
        makers = [maker(name) for name in said["sorts"]]
        values: list[Any] = []
        value = values.__getitem__
        for each in said["values"]:
            if each.__class__ is list:
                sort, *parts = each
                values.append(makers[sort]([*map(value, parts)]))
            else:
                values.append(each)
        summary = values[-1]
    except (zlib.error, LookupError, TypeError, ValueError, RecursionError, AttributeError) as error:
        raise UnpackError(str(error)) from error
    if not isinstance(summary, ModuleSummary):
        raise UnpackError("it holds no summary")
    return summary


class _Packer:
    """Numbers leaves, and nodes behind all that they are made of."""

    def __init__(self, summary: ModuleSummary) -> None:
        self.sorts: list[str] = []
        self.values: list[Any] = []
        # leaves of each class by themselves: 1, 1.0 and True are not the same
        self._leaf_numbers: dict[type, dict[Any, int]] = {cls: {} for cls in _LEAVES}
        self._node_numbers: dict[tuple[int, ...], int] = {}
        self._shapes: dict[type, tuple[int, _PartsOf]] = {}
        self._by_id: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is used again
        self._number(summary)

    def _number(self, value: Any) -> int:
        known = self._by_id.get(id(value))
        if known is not None:
            return known
        cls = value.__class__
        sort, parts_of = self._shapes.get(cls) or self._shape(cls)
        numbers = [sort]
        for part in parts_of(value):
            of_class = self._leaf_numbers.get(part.__class__)
            if of_class is None:
                numbers.append(self._number(part))
                continue
            leaf = of_class.get(part)
            if leaf is None:
                leaf = of_class[part] = len(self.values)
                self.values.append(part)
            numbers.append(leaf)
        node = tuple(numbers)
        number = self._node_numbers.get(node)
        if number is None:
            number = self._node_numbers[node] = len(self.values)
            self.values.append(node)
        self._by_id[id(value)] = number
        self._alive.append(value)
        return number

    def _shape(self, cls: type) -> tuple[int, _PartsOf]:
        """The number of the sort that values of a class are of, and what tells their parts."""
        parts_of = _BUILT_IN.get(cls)
        name = cls.__name__ if parts_of is not None else f"{cls.__module__}:{cls.__qualname__}"
        if parts_of is None:
            maker(name)
            parts_of = _parts_of_records(cls)
        shape = self._shapes[cls] = len(self.sorts), parts_of
        self.sorts.append(name)
        return shape


_PartsOf = Callable[[Any], Iterable[Any]]

_BUILT_IN: dict[type, _PartsOf] = {
    tuple: lambda value: value,
    dict: lambda value: chain.from_iterable(value.items()),
    frozenset: lambda value: sorted(value, key=repr),
    set: lambda value: sorted(value, key=repr),
}


def _parts_of_records(cls: type) -> _PartsOf:
    if issubclass(cls, Enum):
        return lambda value: (value.value,)
    if issubclass(cls, tuple):
        return lambda value: value
    names = [field.name for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]
    return lambda value: [getattr(value, name) for name in names]


_LEAVES: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_known_makers: dict[str, Callable[[list[Any]], Any]] = dict(_PLAIN)


def maker(name: str) -> Callable[[list[Any]], Any]:
    """What makes a value of a sort from its parts. Raises TypeError for what is no plain data of rlint."""
    known = _known_makers.get(name)
    if known is not None:
        return known
    module, _, qualname = name.partition(":")
    cls = getattr(sys.modules.get(module), qualname, None) if module.startswith(_PACKAGES) else None
    if not isinstance(cls, type) or cls.__module__ != module:
        raise TypeError(f"{name} is no plain data")
    if issubclass(cls, Enum):
        made: Callable[[list[Any]], Any] = lambda parts: cls(parts[0])  # noqa: E731
    elif issubclass(cls, tuple) and hasattr(cls, "_make"):
        made = cls._make
    elif dataclasses.is_dataclass(cls):
        made = lambda parts: cls(*parts)  # noqa: E731
    else:
        raise TypeError(f"{name} is no plain data")
    _known_makers[name] = made
    return made
