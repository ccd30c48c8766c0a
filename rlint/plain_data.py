"""Codec for records as JSON: results and summaries are stored in it between runs.

Such data is a tree of records, tuples and names with many repetitions. It is packed as a list of leaves
(strings, numbers) and nodes, each of which has a shape and refers to earlier leaves and nodes: equal values
are packed and unpacked once. A shape names its class with the fields of that class, so that a new field needs
no change here, and data packed with other fields is refused. Reading creates only records of rlint's own
plain classes.

Not by a library, because msgspec and cattrs write parts that several records share again for each: the
summaries of 64 files are 307 kB here and read in 39 ms; written field by field they are 1.4 MB of JSON, which
msgspec converts to plain lists in 55 ms, before there is any record.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from rlint.enums import Enum

_PACKAGES = ("rlint.semantics.", "rlint.models.", "rlint.findings", "rlint.run_data")
"""Packages with classes of plain data."""

T = TypeVar("T")
PartsOf: TypeAlias = Callable[[Any], Iterable[Any]]

_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "set": set,
    "dict": lambda items: dict(zip(items[::2], items[1::2], strict=True)),
}
_BUILT_IN: dict[type, PartsOf] = {
    tuple: lambda value: value,
    dict: lambda value: chain.from_iterable(value.items()),
    frozenset: lambda value: sorted(value, key=repr),
    set: lambda value: sorted(value, key=repr),
}
_LEAVES: frozenset[type] = frozenset({str, int, float, bool, type(None)})


class UnpackError(ValueError):
    """The data was not packed by this version of rlint."""


def pack(value: object) -> dict[str, Any]:
    """Return a record as plain data for `json.dumps`. Raises TypeError for values that are not plain data."""
    packer = _Packer(value)
    return {"sorts": packer.sorts, "values": packer.values}


def unpack(data: Any, cls: type[T]) -> T:
    """Return the record of a class that was passed to `pack`. Raises UnpackError."""
    try:
        makers = [_maker_of(*sort) for sort in data["sorts"]]
        values: list[Any] = []
        value = values.__getitem__
        for each in data["values"]:
            if each.__class__ is list:
                sort, *parts = each
                values.append(makers[sort]([*map(value, parts)]))
            else:
                values.append(each)
        record = values[-1]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnpackError(str(error)) from error
    if not isinstance(record, cls):
        raise UnpackError(f"it holds no {cls.__name__}")
    return record


class _Packer:
    """Numbers leaves, and nodes after all of their parts."""

    def __init__(self, record: object) -> None:
        self.sorts: list[list[str]] = []
        self.values: list[Any] = []
        # leaves by class: 1, 1.0 and True are different
        self._leaf_numbers: dict[type, dict[Any, int]] = {cls: {} for cls in _LEAVES}
        self._node_numbers: dict[tuple[int, ...], int] = {}
        self._shapes: dict[type, tuple[int, PartsOf]] = {}
        self._by_id: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is reused
        self._number(record)

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

    def _shape(self, cls: type) -> tuple[int, PartsOf]:
        """Return the number of the shape for values of a class, and the function that returns their parts."""
        parts_of = _BUILT_IN.get(cls)
        if parts_of is None:
            self.sorts.append([name_of(cls), *fields_of(cls)])
            parts_of = record_parts(cls)
        else:
            self.sorts.append([cls.__name__])
        shape = self._shapes[cls] = len(self.sorts) - 1, parts_of
        return shape


@functools.cache
def record_parts(cls: type) -> PartsOf:
    """Return a function that returns the parts of a class's records, as `maker` takes them."""
    if issubclass(cls, Enum):
        return lambda value: (value.value,)
    if issubclass(cls, tuple):
        return lambda value: value
    names = fields_of(cls)
    return lambda value: [getattr(value, name) for name in names]


def fields_of(cls: type) -> list[str]:
    """Return the names of a record's fields; none for enumerations."""
    if issubclass(cls, Enum):
        return []
    if issubclass(cls, tuple):
        return [*cls._fields]  # type: ignore[attr-defined]
    return [field.name for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]


def name_of(cls: type) -> str:
    """Return the name that represents a class. Raises TypeError for one that is not plain data of rlint."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    maker(name)
    return name


def maker(name: str) -> Callable[[list[Any]], Any]:
    """Return a function that creates a value of a class from its parts. Raises TypeError for what is no plain
    data.
    """
    known = _MAKERS.get(name)
    if known is not None:
        return known
    cls = _class_of(name)
    if issubclass(cls, Enum):
        made: Callable[[list[Any]], Any] = lambda parts: cls(parts[0])  # noqa: E731
    elif issubclass(cls, tuple) and hasattr(cls, "_make"):
        made = cls._make
    elif dataclasses.is_dataclass(cls):
        made = lambda parts: cls(*parts)  # noqa: E731
    else:
        raise TypeError(f"{name} is no plain data")
    _MAKERS[name] = made
    return made


def _maker_of(name: str, *fields: str) -> Callable[[list[Any]], Any]:
    made = maker(name)
    if ":" in name and [*fields] != fields_of(_class_of(name)):
        raise UnpackError(f"{name} has other fields than these: {', '.join(fields)}")
    return made


def _class_of(name: str) -> type:
    module, _, qualname = name.partition(":")
    cls = getattr(sys.modules.get(module), qualname, None) if module.startswith(_PACKAGES) else None
    if not isinstance(cls, type) or cls.__module__ != module:
        raise TypeError(f"{name} is no plain data")
    return cls
