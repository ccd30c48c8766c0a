"""Delta debugging: a smallest part of a set that makes a test fail (Zeller and Hildebrandt, 2002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def ddmin(items: Sequence[Item], fails: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """Return a part of `items` with which the test fails, and without any one of whose items it passes. It
    has to fail with all items. A single culprit is found in about two tests for each halving.
    """
    current = list(items)
    pieces = 2
    while len(current) >= 2:
        parts = _split(current, pieces)
        failing = next((part for part in parts if fails(part)), None)
        if failing is not None:
            current, pieces = failing, 2
            continue
        rests = (
            [item for other in parts if other is not part for item in other]
            for part in (parts if pieces > 2 else [])  # of two parts, each is the complement of the other
        )
        failing = next((rest for rest in rests if fails(rest)), None)
        if failing is not None:
            current, pieces = failing, max(pieces - 1, 2)
        elif pieces < len(current):
            pieces = min(len(current), 2 * pieces)
        else:
            break
    return current


def _split(items: list[Item], pieces: int) -> list[list[Item]]:
    size, longer = divmod(len(items), pieces)
    parts, start = [], 0
    for number in range(pieces):
        end = start + size + (number < longer)
        parts.append(items[start:end])
        start = end
    return parts
