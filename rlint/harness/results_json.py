"""Results as JSON and back: one encoding for reports and for evidence files.

An object of rlint.harness.results becomes a JSON object whose keys are its fields, in their order; the
docstrings there say what each means. A verdict is its value ("no change"), a tuple an array, a float that
JSON cannot hold one of the strings "inf", "-inf" and "nan". Nothing is left out: a reader may rely on every
key. A whole session begins with `"schema": 1`, a number that changes when a key is renamed, dropped or given
another meaning, and stays when one is added: readers should pass over keys that they do not know. rlint
itself refuses them, for it reads what the same version wrote.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from rlint.harness.results import Outcome, Session

SCHEMA = 1

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_T = TypeVar("_T")


class FormatError(ValueError):
    """The JSON value is no result that this version of rlint can read; the message says where it is wrong."""


def to_json(session: Session) -> dict[str, Any]:
    """Return a session as what `json.dumps` takes."""
    return {"schema": SCHEMA, **_object(session)}


def from_json(data: Mapping[str, Any]) -> Session:
    """Read a session as `to_json` wrote it. Raises FormatError."""
    if not isinstance(data, Mapping):
        raise FormatError("the session is no object")
    if data.get("schema") != SCHEMA:
        raise FormatError(f"`schema` is {data.get('schema')!r}; this version reads {SCHEMA}")
    return _read_object({key: value for key, value in data.items() if key != "schema"}, Session, "")


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    """Return one outcome as what `json.dumps` takes."""
    return _object(outcome)


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    """Read an outcome as `outcome_to_json` wrote it. Raises FormatError."""
    return _read_object(data, Outcome, "")


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


def _read_object(data: object, cls: type[_T], path: str) -> _T:
    if not isinstance(data, Mapping):
        raise FormatError(f"{path or cls.__name__}: is no object")
    kinds = _kinds(cls)
    unknown = sorted(str(key) for key in data if key not in kinds)
    if unknown:
        raise FormatError(f"{_join(path, unknown[0])}: unknown key")
    values = {key: _read(value, kinds[key], _join(path, key)) for key, value in data.items()}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # only dataclasses come here
        optional = (
            field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        )
        if field.name not in values and not optional:
            raise FormatError(f"{_join(path, field.name)}: is missing")
    return cls(**values)


_known_kinds: dict[type, Mapping[str, Any]] = {}


def _kinds(cls: type) -> Mapping[str, Any]:
    """The types of a class's fields, evaluated once: that takes longer than reading an object."""
    if cls not in _known_kinds:
        _known_kinds[cls] = typing.get_type_hints(cls)
    return _known_kinds[cls]


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _read(value: object, kind: Any, path: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:  # `X | None` is the only one
        inner = next(one for one in arguments if one is not types.NoneType)
        return None if value is None else _read(value, inner, path)
    if origin is tuple:
        if not isinstance(value, list):
            raise FormatError(f"{path}: is no array")
        return tuple(_read(item, arguments[0], f"{path}[{index}]") for index, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise FormatError(f"{path}: is no object")
        return {key: _read(item, arguments[1], _join(path, key)) for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        return _read_object(value, kind, path)  # type: ignore[arg-type]  # a class, for it is an annotation
    return _read_scalar(value, kind, path)


def _read_scalar(value: object, kind: Any, path: str) -> Any:
    if kind is object:
        return value
    if issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            known = ", ".join(repr(member.value) for member in kind)
            raise FormatError(f"{path}: is {value!r}, none of {known}") from None
    if kind is float and isinstance(value, (int, str)) and not isinstance(value, bool):
        value = _NOT_FINITE.get(value) if isinstance(value, str) else float(value)
    if isinstance(value, bool) is (kind is bool) and isinstance(value, kind):
        return value
    raise FormatError(f"{path}: is no {_WORDS[kind]}")


_WORDS = {float: "number", int: "whole number", str: "text", bool: "truth value"}
