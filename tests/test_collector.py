"""Runs disable the cycle collector; their objects are freed all the same."""

from __future__ import annotations

import sys
import weakref

import pytest

from rlint.engine import gc_control


class Cycle(list[object]):
    """An object in a reference cycle."""


def leftover_objects() -> weakref.ref[Cycle]:
    """Create garbage that only the cycle collector can free."""
    cycle = Cycle([number] for number in range(50_000))
    cycle.append(cycle)
    return weakref.ref(cycle)


def test_a_process_that_runs_again_and_again_frees_what_runs_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor's server runs for days."""
    few = sys.getallocatedblocks() + 20_000
    monkeypatch.setattr(gc_control, "_blocks_before_collection", few)
    found = []
    for _ in range(3):
        with gc_control.collector_off():
            found.append(leftover_objects())
    assert found[0]() is None


def test_little_garbage_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection takes longer than the check of a file."""
    monkeypatch.setattr(gc_control, "_blocks_before_collection", sys.getallocatedblocks() + 10_000_000)
    with gc_control.collector_off():
        found = leftover_objects()
    with gc_control.collector_off():
        assert found() is not None
