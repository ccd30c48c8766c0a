"""Interning: equal values are kept once, as summaries contain many of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


class Interner:
    """Returns the first of all equal values. For strings, types, and sets and tuples of them: numbers of
    different types may be equal, but must not be exchanged.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Hashable] = {}

    def __call__(self, value: _Value) -> _Value:
        """Return the first value that was equal to this one."""
        return self._known.setdefault(value, value)  # type: ignore[return-value] # it is equal
