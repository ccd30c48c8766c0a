"""Derived inputs: inputs that a workload does not create itself, derived from those that it creates.

Special numbers are written into arrays, tensors and lists of numbers; these and strings are emptied, or get
another memory layout. They are found through tuples, lists and dicts, and numbers also in the public
attributes of the program's own objects. Weights of networks are unchanged, unless inputs are modified between
calls.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rlint.harness.compare.snapshot_objects import attributes_of
from rlint.harness.machine_devices import loaded_torch
from rlint.harness.workload import CHANGED, EMPTY, INFINITY, NAN, NEGATIVE_ZERO, STRIDED

_NUMBERS: Mapping[str, tuple[float, ...]] = {
    NAN: (math.nan,),
    INFINITY: (math.inf, -math.inf),
    NEGATIVE_ZERO: (-0.0,),
}
_MOST = 100_000
"""Maximum number of objects examined."""


def derive(kind: str, inputs: Any, seed: int, own: frozenset[str]) -> tuple[Any, tuple[str, ...]]:
    """Return inputs of a variant, and the paths where they differ from the given ones, which may be modified.

    `own` are the names of the modules whose objects are searched. Other seeds change other places.
    """
    if kind in _NUMBERS:
        planting = _Planting(_NUMBERS[kind], seed, own)
        planting.visit(inputs, "inputs")
        return inputs, tuple(planting.places)
    if kind == EMPTY:
        places = [place for place, value in _data_of(inputs, "inputs") if _length(value)]
        chosen = set(places if seed == 0 else places[(seed - 1) % len(places) :][:1]) if places else set()
        return _rebuilt(inputs, "inputs", chosen, _emptied), tuple(sorted(chosen))
    if kind == STRIDED:
        layout = _Layout(transposed=bool(seed % 2))
        chosen = {place for place, value in _data_of(inputs, "inputs", nested=True) if layout.fits(value)}
        return _rebuilt(inputs, "inputs", chosen, layout.of), tuple(sorted(chosen))
    assert kind == CHANGED
    return inputs, tuple(reverse(inputs, "inputs"))


# --- special numbers ---


@dataclass(slots=True)
class _Planting:
    """Writes numbers into objects that contain numbers, in place."""

    numbers: tuple[float, ...]
    seed: int
    own: frozenset[str]
    places: list[str] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    _alive: list[Any] = field(default_factory=list)

    def visit(self, value: Any, place: str) -> None:
        """Modify a value and its contents."""
        if id(value) in self._seen or len(self._seen) > _MOST:
            return
        self._seen.add(id(value))
        self._alive.append(value)
        if isinstance(value, (tuple, list)):
            if isinstance(value, list):
                self._list(value, place)
            for index, item in enumerate(value):
                if not isinstance(item, (float, int, str)):
                    self.visit(item, f"{place}[{index}]")
        elif type(value) is dict:
            for key, item in value.items():
                self.visit(item, f"{place}[{key!r}]")
        elif _is_array(value):
            if value.dtype.kind == "f" and value.size and value.flags.writeable:
                for index, number in self._chosen(value.size, f"{place} {value.shape} {value.dtype}"):
                    value[_index(index, value.shape)] = number
                self.places.append(place)
        elif _is_tensor(value):
            self._tensor(value, place)
        elif type(value).__module__ in self.own and not _is_module(value):
            for name, held in (attributes_of(value) or {}).items():
                if not name.startswith("_"):
                    self.visit(held, f"{place}.{name}")

    def _list(self, value: list[Any], place: str) -> None:
        at = [index for index, item in enumerate(value) if type(item) is float]
        for index, number in self._chosen(len(at), f"{place} {len(at)}"):
            value[at[index]] = number
        if at:
            self.places.append(place)

    def _tensor(self, value: Any, place: str) -> None:
        torch = loaded_torch()
        if not value.is_floating_point() or value.layout is not torch.strided or not value.numel():
            return
        if isinstance(value, torch.nn.Parameter) or 0 in value.stride():
            return
        with torch.no_grad():
            shape = tuple(value.shape)
            for index, number in self._chosen(value.numel(), f"{place} {shape} {value.dtype}"):
                value.data[_index(index, shape)] = number
        self.places.append(place)

    def _chosen(self, count: int, place: str) -> Iterator[tuple[int, float]]:
        """Yield some of a number of places, the same in each arm, with the values to write there."""
        rng = random.Random(f"{self.seed} {place}")  # noqa: S311 - inputs, no secrets
        few = min(max(1, count // 4), 16) if count else 0
        for number, index in enumerate(sorted(rng.sample(range(count), few))):
            yield index, self.numbers[number % len(self.numbers)]


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place: list[int] = []
    for length in reversed(shape):
        place.append(flat % length)
        flat //= length
    return tuple(reversed(place))


# --- other arguments in place of those that hold data ---


def _data_of(value: Any, place: str, *, nested: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the data among arguments, which may be packed in tuples and dicts; also in lists if `nested`."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _data_of(item, f"{place}[{index}]", nested=nested)
    elif type(value) is dict:
        for key, item in value.items():
            yield from _data_of(item, f"{place}[{key!r}]", nested=nested)
    else:
        yield place, value
        if nested and type(value) is list:
            for index, item in enumerate(value[:_MOST]):
                yield from _data_of(item, f"{place}[{index}]", nested=True)


def _rebuilt(value: Any, place: str, chosen: set[str], change: Callable[[Any], Any]) -> Any:
    """Return the same arguments with changes at the `chosen` places."""
    if place in chosen:
        return change(value)
    if not any(one.startswith(place) for one in chosen):
        return value
    if isinstance(value, tuple):
        items = [_rebuilt(item, f"{place}[{index}]", chosen, change) for index, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value) is dict:
        return {key: _rebuilt(item, f"{place}[{key!r}]", chosen, change) for key, item in value.items()}
    if type(value) is list:
        value[:] = [_rebuilt(item, f"{place}[{index}]", chosen, change) for index, item in enumerate(value)]
    return value


def _length(value: Any) -> int:
    if type(value) in (list, str, bytes):
        return len(value)
    return len(value) if (_is_array(value) or _is_plain_tensor(value)) and value.ndim else 0


def _emptied(value: Any) -> Any:
    if _is_array(value):
        return value[:0].copy()
    return value[:0].clone() if _is_tensor(value) else value[:0]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Another memory layout of the elements: with reversed dimensions, or with gaps."""

    transposed: bool

    def fits(self, value: Any) -> bool:
        """Whether there is another layout."""
        if _is_array(value):
            return bool(value.size > 1 and not value.dtype.hasobject)
        return bool(_is_plain_tensor(value) and value.numel() > 1)

    def of(self, value: Any) -> Any:
        """Return the same values laid out otherwise."""
        if self.transposed and value.ndim > 1:
            dimensions = range(value.ndim)[::-1]
            if _is_array(value):
                return value.transpose(*dimensions).copy().transpose(*dimensions)
            return value.permute(*dimensions).contiguous().permute(*dimensions)
        if _is_array(value):
            numpy: Any = sys.modules["numpy"]
            return numpy.repeat(value, 2, axis=-1)[..., ::2]
        return value.repeat_interleave(2, dim=-1)[..., ::2]


# --- changes between calls ---


def reverse(value: Any, place: str) -> Iterator[str]:
    """Reverse the order of elements in place in arrays, tensors, lists and weights; yield their paths."""
    torch = loaded_torch()
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from reverse(item, f"{place}[{index}]")
    elif type(value) is dict:
        for key, item in value.items():
            yield from reverse(item, f"{place}[{key!r}]")
    elif type(value) is list and len(value) > 1:
        value.reverse()
        yield place
    elif _is_array(value):
        if value.ndim and len(value) > 1 and value.flags.writeable:
            value[...] = value[::-1].copy()
            yield place
    elif _is_tensor(value):
        if value.layout is torch.strided and value.ndim and len(value) > 1 and 0 not in value.stride():
            with torch.no_grad():
                value.data.copy_(value.data.flip(0))
            yield place
    elif _is_module(value):
        for name, parameter in value.named_parameters():
            yield from reverse(parameter, f"{place}.{name}")


# --- kinds of values ---


def _is_array(value: Any) -> bool:
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray


def _is_tensor(value: Any) -> bool:
    torch = loaded_torch()
    return torch is not None and isinstance(value, torch.Tensor)


def _is_plain_tensor(value: Any) -> bool:
    """Whether a value is a contiguous tensor without gradient."""
    torch = loaded_torch()
    return _is_tensor(value) and not value.requires_grad and value.layout is torch.strided


def _is_module(value: Any) -> bool:
    torch = loaded_torch()
    return torch is not None and isinstance(value, torch.nn.Module)
