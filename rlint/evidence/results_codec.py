"""JSON codec for results: one encoding for reports and for evidence files.

An object of rlint.evidence.results becomes a JSON object whose keys are its fields, in order; the docstrings
there say what each means. A verdict is its value ("no change"), a tuple an array, a float that JSON cannot
represent one of the strings "inf", "-inf" and "nan". Nothing is left out: readers may rely on every key. A
whole session begins with `"schema": 1`, a number that changes when a key is renamed, removed or given another
meaning, and does not when one is added: readers should skip unknown keys. rlint itself refuses them, since it
only reads what the same version wrote.

Not by a library, because error messages locate the error in a file, and msgspec neither refuses unknown keys
of dataclasses nor accepts "inf" for a number.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rlint.evidence.results import Session

SCHEMA = 1

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_T = TypeVar("_T")


class FormatError(ValueError):
    """The JSON value is not a result that this version of rlint can read; the message locates the error."""


def to_json(session: Session) -> dict[str, Any]:
    """Return a session as plain data for `json.dumps`."""
    return {"schema": SCHEMA, **_object(session)}


def from_json(data: Mapping[str, Any]) -> Session:
    """Return the session that `to_json` wrote. Raises FormatError."""
    if not isinstance(data, Mapping):
        raise FormatError("the session is no object")
    if data.get("schema") != SCHEMA:
        raise FormatError(f"`schema` is {data.get('schema')!r}; this version reads {SCHEMA}")
    return _read_object({key: value for key, value in data.items() if key != "schema"}, Session)


# --- writing ---


def _object(value: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return _object(value) if dataclasses.is_dataclass(value) else value


# --- reading ---


_Reader = Callable[[Any], Any]


class _MisfitError(Exception):
    """A value has the wrong type; its path is added while the exception propagates."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.place = ""

    def descendants(self, step: str) -> _MisfitError:
        """Return the same, one step further up: a key, or an index in brackets."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{step}{dot}{self.place}"
        return self


def _read_object(data: object, cls: type[_T]) -> _T:
    try:
        return _object_reader(cls)(data)  # type: ignore[no-any-return, arg-type]
    except _MisfitError as misfit:
        raise FormatError(f"{misfit.place or cls.__name__}: {misfit}") from None


@functools.cache
def _object_reader(cls: type) -> _Reader:
    """Return a reader of objects of a class. It is cached, as inspecting types takes longer than reading."""
    readers = {name: _reader(kind) for name, kind in typing.get_type_hints(cls).items()}
    required = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]

    def read(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _MisfitError("is no object")
        unknown = sorted(str(key) for key in data if key not in readers)
        if unknown:
            raise _MisfitError("unknown key").descendants(unknown[0])
        values = {}
        key = ""
        try:
            for key, value in data.items():
                values[key] = readers[key](value)
        except _MisfitError as misfit:
            raise misfit.descendants(key) from None
        for name in required:
            if name not in values:
                raise _MisfitError("is missing").descendants(name)
        return cls(**values)

    return read


def _reader(kind: Any) -> _Reader:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:  # `X | None` is the only one
        inner = _reader(next(one for one in arguments if one is not types.NoneType))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        return _array_reader(_reader(arguments[0]))
    if origin is dict:
        return _table_reader(_reader(arguments[1]))
    if dataclasses.is_dataclass(kind):
        return _object_reader(kind)  # type: ignore[arg-type]  # a class, for it is an annotation
    return lambda value: _read_scalar(value, kind)


def _array_reader(of_item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise _MisfitError("is no array")
        items: list[Any] = []
        try:
            for item in value:
                items.append(of_item(item))  # noqa: PERF401 - how many there are tells which is wrong
        except _MisfitError as misfit:
            raise misfit.descendants(f"[{len(items)}]") from None
        return tuple(items)

    return read


def _table_reader(of_item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _MisfitError("is no object")
        items = {}
        key = ""
        try:
            for key, item in value.items():
                items[key] = of_item(item)
        except _MisfitError as misfit:
            raise misfit.descendants(key) from None
        return items

    return read


def _read_scalar(value: object, kind: Any) -> Any:
    if value.__class__ is kind or kind is object:
        return value
    if issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            known = ", ".join(repr(member.value) for member in kind)
            raise _MisfitError(f"is {value!r}, none of {known}") from None
    if kind is float and isinstance(value, (int, str)) and not isinstance(value, bool):
        value = _NOT_FINITE.get(value) if isinstance(value, str) else float(value)
    if isinstance(value, bool) is (kind is bool) and isinstance(value, kind):
        return value
    raise _MisfitError(f"is no {_WORDS[kind]}")


_WORDS = {float: "number", int: "whole number", str: "text", bool: "truth value"}
