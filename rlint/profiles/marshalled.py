"""Reader for the dumps of cProfile, which are marshalled: data only.

`marshal.loads` may crash the interpreter on damaged or hostile bytes, and creates code objects. This module
reads dicts, tuples, numbers and strings, and refuses everything else; it can neither execute code nor crash.
"""

from __future__ import annotations

import math
import struct
from typing import Any

_REFERENCED = 0x80
_DEEPEST = 8  # a dump has five levels of nesting
_END = object()  # closes a dict


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._seen: list[Any] = []

    @property
    def place(self) -> int:
        """Return the number of bytes read."""
        return self._place

    def value(self, depth: int = 0) -> Any:
        """Read one value. Raises ValueError for values that no profile contains."""
        if depth > _DEEPEST:
            raise ValueError("it nests deeper than any profile")
        byte = self._take(1)[0]
        code, referenced = byte & ~_REFERENCED, bool(byte & _REFERENCED)
        slot = len(self._seen)
        if referenced:
            self._seen.append(_END)  # so that its items get later numbers
        value = self._of(chr(code), depth)
        if referenced:
            self._seen[slot] = value
        return value

    def _of(self, code: str, depth: int) -> Any:
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in "zZ":
            return self._text(self._take(1)[0])
        if code in "uaAst":
            return self._text(self._size())
        if code == "i":
            return self._integer()
        if code == "g":
            return float(struct.unpack("<d", self._take(8))[0])
        if code == "l":
            return self._long()
        if code == ")":
            return tuple(self.value(depth + 1) for _ in range(self._take(1)[0]))
        if code == "(":
            return tuple(self.value(depth + 1) for _ in range(self._size()))
        if code == "{":
            return self._dict(depth)
        if code == "r":
            number = self._integer()
            if not 0 <= number < len(self._seen) or self._seen[number] is _END:
                raise ValueError("it holds a dangling reference")
            return self._seen[number]
        raise ValueError(f"it holds a value of type {code!r}, which no profile has")

    def _dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (key := self.value(depth + 1)) is not _END:
            if isinstance(key, dict):
                raise ValueError("a dict is the key of another")  # noqa: TRY004 - one kind for all damage
            value = self.value(depth + 1)
            try:
                found[key] = value
            except TypeError as error:
                raise ValueError("a key holds a dict") from error
        return found

    def _text(self, size: int) -> str:
        return self._take(size).decode("utf-8", "replace")

    def _integer(self) -> int:
        number: int = struct.unpack("<i", self._take(4))[0]
        return number

    def _size(self) -> int:
        size = self._integer()
        if not 0 <= size <= len(self._data) - self._place:
            raise ValueError("it is cut off, or a length in it is wrong")
        return size

    def _long(self) -> int:
        count = self._integer()
        if abs(count) > 8:
            raise ValueError("it holds a number that is too large to be a count")
        digits: tuple[int, ...] = struct.unpack(f"<{abs(count)}H", self._take(2 * abs(count)))
        total = sum(digit << (15 * place) for place, digit in enumerate(digits))
        return -total if count < 0 else total

    def _take(self, count: int) -> bytes:
        taken = self._data[self._place : self._place + count]
        if len(taken) < count:
            raise ValueError("it is cut off")
        self._place += count
        return taken


_CONSTANTS: dict[str, Any] = {"N": None, "T": True, "F": False, "0": _END}


def loads(data: bytes) -> object:
    """Return the value of marshalled bytes: dicts, tuples, numbers and strings only.

    Raises ValueError, with the problem, for anything else.
    """
    reader = _Reader(data)
    value = reader.value()
    if value is _END:
        raise ValueError("it is empty")
    if reader.place != len(data):
        raise ValueError("data follows after its end")
    return value


def number(value: object) -> float:
    """Return a number that is possible for a measurement. Raises ValueError for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise ValueError("a time or count in it is not a number")
