"""Exact copies of objects' contents, and the first difference between two copies."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rlint.harness.compare.texts import around, name_of, shortened

if TYPE_CHECKING:
    import numpy as np
    import torch

    from rlint.harness.workload import Tolerance

Scalar: TypeAlias = bool | int | float | complex | str | bytes | None
SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Types (not their subclasses) whose objects are immutable and are kept as they are."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The first place at which two values differ; `index` is "" or that of an element, `[3, 1]`."""

    index: str
    before: str
    after: str


class Data(Protocol):
    """A copy of the data of an object. It is compared with others of its class."""

    def has_same_form(self, other: Any) -> bool:
        """Whether both have one form (shape and dtype), which the following functions require."""

    def same(self, other: Any) -> bool:
        """Whether both are equal bit for bit."""

    def gap(self, other: Any, tolerance: Tolerance | None) -> Gap | None:
        """Return the first difference beyond the tolerance, if any."""


@dataclass(frozen=True, slots=True)
class TextData:
    """Data that is a string."""

    text: str
    literal: bool = False
    """Return it in quotes."""

    def has_same_form(self, other: TextData) -> bool:  # noqa: ARG002 - part of the protocol
        """Return True: there is one form only."""
        return True

    def same(self, other: TextData) -> bool:
        """Whether both texts are equal."""
        return self.text == other.text

    def gap(self, other: TextData, tolerance: Tolerance | None) -> Gap | None:  # noqa: ARG002 - no numbers
        """Return both strings, or the parts where they differ."""
        if self.text == other.text:
            return None
        if self.literal or max(len(self.text), len(other.text)) > 80:
            return Gap("", *around(self.text, other.text))
        return Gap("", self.text, other.text)


@dataclass(frozen=True, slots=True)
class Stream:
    """The state of a random generator."""

    state: object
    draw: Callable[[], str]
    """Return the next draw, for reports."""

    def has_same_form(self, other: Stream) -> bool:  # noqa: ARG002 - part of the protocol
        """Return True: there is one form only."""
        return True

    def same(self, other: Stream) -> bool:
        """Whether both will draw the same."""
        return self.state == other.state

    def gap(self, other: Stream, tolerance: Tolerance | None) -> Gap | None:  # noqa: ARG002 - exact or not
        """Return the difference of the next draws."""
        if self.same(other):
            return None
        before, after = self.draw(), other.draw()
        if before == after:
            before, after = "one state", "another state"
        return Gap("", before, after)


@dataclass(frozen=True, slots=True)
class NumpyData:
    """A contiguous copy of an array without Python objects and without fields."""

    array: np.ndarray[Any, Any]

    @property
    def nbytes(self) -> int:
        """Return its size in bytes."""
        return self.array.nbytes

    def has_same_form(self, other: NumpyData) -> bool:
        """Whether both have one shape and dtype."""
        return (self.array.shape, self.array.dtype) == (other.array.shape, other.array.dtype)

    def same(self, other: NumpyData) -> bool:
        """Whether both are equal bit for bit."""
        import numpy as np

        if self.array.dtype.char in "gG" or self.array.dtype.itemsize == 0:
            return not self._unequal(other).any()
        a, b = self.array.reshape(-1), other.array.reshape(-1)
        return np.array_equal(a.view(np.uint8), b.view(np.uint8))

    def _unequal(self, other: NumpyData) -> Any:
        """Return which elements differ, in one dimension."""
        import numpy as np

        a, b = self.array.reshape(-1), other.array.reshape(-1)
        if a.dtype.char in "gG":  # padding between numbers is meaningless
            real_a, real_b = a.view(np.longdouble), b.view(np.longdouble)
            has_same_form = (real_a == real_b) & (np.signbit(real_a) == np.signbit(real_b))
            has_same_form |= np.isnan(real_a) & np.isnan(real_b)
            return ~has_same_form.reshape(len(a), -1).all(axis=1)
        if a.dtype.itemsize == 0:
            return np.zeros(len(a), bool)
        width = a.dtype.itemsize
        return (a.view(np.uint8) != b.view(np.uint8)).reshape(len(a), width).any(axis=1)

    def gap(self, other: NumpyData, tolerance: Tolerance | None) -> Gap | None:
        """Return the first element that differs, in row-major order."""
        import numpy as np

        unequal = self._unequal(other)
        if tolerance is not None and self.array.dtype.kind in "iufc":
            a, b = _wide(self.array.reshape(-1)), _wide(other.array.reshape(-1))
            with np.errstate(all="ignore"):
                close = np.abs(a - b) <= tolerance.atol + tolerance.rtol * np.abs(a)
            unequal &= ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))
        found = np.flatnonzero(unequal)
        if not len(found):
            return None
        place = np.unravel_index(found[0], self.array.shape)
        values = (data.array.reshape(-1)[found[0]] for data in (self, other))
        return _element(tuple(int(i) for i in place), *((str(v), v.tobytes()) for v in values))


def _wide(array: Any) -> Any:
    return array.astype("clongdouble" if array.dtype.kind == "c" else "longdouble")


@dataclass(frozen=True, slots=True)
class TorchData:
    """A contiguous copy of a dense tensor on the host."""

    tensor: torch.Tensor

    @property
    def nbytes(self) -> int:
        """Return its size in bytes."""
        return self.tensor.numel() * self.tensor.element_size()

    def has_same_form(self, other: TorchData) -> bool:
        """Whether both have one shape and dtype."""
        return (self.tensor.shape, self.tensor.dtype) == (other.tensor.shape, other.tensor.dtype)

    def same(self, other: TorchData) -> bool:
        """Whether both are equal bit for bit."""
        import torch

        if not self.tensor.numel():
            return True
        return torch.equal(self._bytes(), other._bytes())

    def _unequal(self, other: TorchData) -> torch.Tensor:
        differing: torch.Tensor = self._bytes() != other._bytes()
        return differing.reshape(self.tensor.numel(), -1).any(dim=1)

    def _bytes(self) -> torch.Tensor:
        import torch

        flat = self.tensor.reshape(-1)
        if flat.stride() != (1,):  # a single element may have any stride, and then has no contiguous bytes
            flat = flat.clone(memory_format=torch.contiguous_format)
        return flat.view(torch.uint8)

    def gap(self, other: TorchData, tolerance: Tolerance | None) -> Gap | None:
        """Return the first element that differs, in row-major order."""
        import torch

        unequal = self._unequal(other)
        if tolerance is not None and self.tensor.dtype is not torch.bool:
            wide = torch.complex128 if self.tensor.is_complex() else torch.float64
            a, b = self.tensor.reshape(-1).to(wide), other.tensor.reshape(-1).to(wide)
            close = (a - b).abs() <= tolerance.atol + tolerance.rtol * a.abs()
            unequal &= ~(close | (a == b) | (a.isnan() & b.isnan()))
        if not bool(unequal.any()):
            return None
        first = int(unequal.to(torch.uint8).argmax())
        place, rest = [], first
        for length in reversed(self.tensor.shape):
            place.append(rest % length)
            rest //= length
        values = (data.tensor.reshape(-1)[first] for data in (self, other))
        return _element(tuple(reversed(place)), *((_shown(v), bytes_of(v)) for v in values))


_DIGITS = {"torch.float32": 9, "torch.float16": 5, "torch.bfloat16": 4}


def _shown(value: torch.Tensor) -> str:
    number = value.item()
    digits = _DIGITS.get(str(value.dtype))
    return f"{number:.{digits}g}" if digits and isinstance(number, float) else str(number)


def bytes_of(tensor: torch.Tensor) -> bytes:
    """Return the bytes of a contiguous tensor on the host."""
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def _element(place: tuple[int, ...], before: tuple[str, bytes], after: tuple[str, bytes]) -> Gap:
    index = f"[{', '.join(map(str, place))}]" if place else ""
    if before[0] != after[0]:
        return Gap(index, shortened(before[0]), shortened(after[0]))
    return Gap(index, *(f"{text} (bytes {data.hex()})" for text, data in (before, after)))


# --- scalars ---


def same_scalars(before: Scalar, after: Scalar) -> bool:
    """Whether two scalars of one type are equal, numbers bit for bit."""
    if isinstance(before, float) and isinstance(after, float):
        return struct.pack("d", before) == struct.pack("d", after)
    if isinstance(before, complex) and isinstance(after, complex):
        return struct.pack("dd", before.real, before.imag) == struct.pack("dd", after.real, after.imag)
    return before == after


def scalar_gap(before: Scalar, after: Scalar, tolerance: Tolerance | None) -> Gap | None:
    """Return the difference of two scalars of one type, if any."""
    if same_scalars(before, after):
        return None
    if isinstance(before, str) and isinstance(after, str):
        return Gap("", *around(before, after))
    if isinstance(before, bool) or not isinstance(before, (int, float, complex)):
        return Gap("", shortened(repr(before)), shortened(repr(after)))
    assert isinstance(after, (int, float, complex))
    if tolerance is not None and _close(before, after, tolerance):
        return None
    if repr(before) != repr(after):
        return Gap("", shortened(repr(before)), shortened(repr(after)))
    packed = (struct.pack(">d", number.real).hex() for number in (before, after))
    return Gap("", *(f"{before!r} (bits {bits})" for bits in packed))


def _close(before: complex, after: complex, tolerance: Tolerance) -> bool:
    if before == after:
        return True
    if isinstance(before, float) and isinstance(after, float) and math.isnan(before) and math.isnan(after):
        return True
    return abs(before - after) <= tolerance.atol + tolerance.rtol * abs(before)


def described(value: Scalar) -> str:
    """Return a scalar, a number with its type: `1.0 (float)`."""
    text = shortened(repr(value))
    return text if value is None or isinstance(value, (str, bytes)) else f"{text} ({name_of(type(value))})"
