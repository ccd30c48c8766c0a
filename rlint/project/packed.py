"""Summaries as plain data, to be kept from one run to the next.

A summary is a tree of records, tuples and names in which much is said again and again. It is packed as a
list of leaves (texts, numbers) and a list of nodes, each of which says of what sort it is and which leaves
and earlier nodes it is made of: what is equal is packed and unpacked once. Reading it makes records of
rlint's own plain classes, and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import zlib
from collections.abc import Callable
from typing import Any

from rlint.enums import Enum
from rlint.project.summary import ModuleSummary

_PACKAGES = ("rlint.project.", "rlint.findings")
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
    said = {"leaves": packer.leaves, "sorts": packer.sorts, "nodes": packer.nodes()}
    return zlib.compress(json.dumps(said, separators=(",", ":")).encode("ascii"), _FAST)


def unpack(data: bytes) -> ModuleSummary:
    """Return the summary that `pack` was given. Raises UnpackError."""
    try:
        inflater = zlib.decompressobj()
        said = json.loads(inflater.decompress(data, _MOST_BYTES))
        makers = [maker(name) for name in said["sorts"]]
        values: list[Any] = said["leaves"]
        value = values.__getitem__
        for sort, *parts in said["nodes"]:
            values.append(makers[sort]([*map(value, parts)]))
        summary = values[-1]
    except (zlib.error, LookupError, TypeError, ValueError, RecursionError, AttributeError) as error:
        raise UnpackError(str(error)) from error
    if not isinstance(summary, ModuleSummary):
        raise UnpackError("it holds no summary")
    return summary


class _Packer:
    """Numbers leaves from 0 upwards, and nodes from -1 downwards until all leaves are known."""

    def __init__(self, summary: ModuleSummary) -> None:
        self.leaves: list[Any] = []
        self.sorts: list[str] = []
        self._nodes: list[tuple[int, ...]] = []
        self._leaf_numbers: dict[tuple[type, Any], int] = {}
        self._node_numbers: dict[tuple[int, ...], int] = {}
        self._sort_numbers: dict[str, int] = {}
        self._by_id: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is used again
        self._number(summary)

    def nodes(self) -> list[list[int]]:
        """The nodes, their parts counted on behind the leaves."""
        last = len(self.leaves) - 1
        return [
            [sort, *(number if number >= 0 else last - number for number in parts)]
            for sort, *parts in self._nodes
        ]

    def _number(self, value: Any) -> int:
        known = self._by_id.get(id(value))
        if known is not None:
            return known
        cls = type(value)
        if cls in _LEAVES:
            leaf = (cls, value)
            number = self._leaf_numbers.get(leaf)
            if number is None:
                number = self._leaf_numbers[leaf] = len(self.leaves)
                self.leaves.append(value)
            return number
        sort, parts = self._parts(cls, value)
        node = (sort, *map(self._number, parts))
        number = self._node_numbers.get(node)
        if number is None:
            number = self._node_numbers[node] = -1 - len(self._nodes)
            self._nodes.append(node)
        self._by_id[id(value)] = number
        self._alive.append(value)
        return number

    def _parts(self, cls: type, value: Any) -> tuple[int, Any]:
        """The number of the sort of a value, and what it is made of."""
        if cls is tuple:
            return self._sort("tuple"), value
        if cls is dict:
            return self._sort("dict"), [part for item in value.items() for part in item]
        if cls in (frozenset, set):
            return self._sort(cls.__name__), sorted(value, key=repr)
        name = f"{cls.__module__}:{cls.__qualname__}"
        maker(name)
        if issubclass(cls, Enum):
            return self._sort(name), (value.value,)
        if issubclass(cls, tuple):
            return self._sort(name), value
        return self._sort(name), [getattr(value, field) for field in _fields(cls)]

    def _sort(self, name: str) -> int:
        known = self._sort_numbers.get(name)
        if known is None:
            known = self._sort_numbers[name] = len(self.sorts)
            self.sorts.append(name)
        return known


_LEAVES = frozenset({str, int, float, bool, type(None)})
_known_makers: dict[str, Callable[[list[Any]], Any]] = dict(_PLAIN)
_known_fields: dict[type, tuple[str, ...]] = {}


def _fields(cls: type) -> tuple[str, ...]:
    known = _known_fields.get(cls)
    if known is None:
        known = _known_fields[cls] = tuple(field.name for field in dataclasses.fields(cls) if field.init)
    return known


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
