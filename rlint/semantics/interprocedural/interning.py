"""Equal values, held once: what files tell of one another is full of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


class Interner:
    """Hands out one of all values that are equal. For strings, kinds, and sets and tuples of them: numbers of
    different types may be equal, and are not to be taken for one another.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Hashable] = {}

    def __call__(self, value: _Value) -> _Value:
        """Return the first value that was equal to this one."""
        return self._known.setdefault(value, value)  # type: ignore[return-value] # it is equal
