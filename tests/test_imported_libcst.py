"""Dataclasses whose methods are compiled on first call behave like all others."""

from __future__ import annotations

import dataclasses

import pytest

from rlint.parsing.imported_libcst import cst, methods_compiled_when_called


def test_methods_do_the_same_when_they_are_compiled_later() -> None:
    """The generated methods of a dataclass."""
    with methods_compiled_when_called():

        @dataclasses.dataclass(frozen=True)
        class Point:
            x: int
            y: int = 0

        @dataclasses.dataclass(frozen=True)
        class Place(Point):
            name: str = ""

    assert dataclasses.replace(Place(1, name="goal"), y=2) == Place(1, 2, "goal")
    assert Point(1) != Point(2)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert repr(Place(1)).endswith("Place(x=1, y=0, name='')")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Place(1).x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Place(1).x
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Point()  # type: ignore[call-arg]


def test_nodes_keep_what_dataclasses_say_about_them() -> None:
    """Fixes work with nodes whose methods are compiled in this way."""
    name = cst.Name("state")
    assert name.with_changes(value="action").value == "action"
    assert cst.parse_module("a = b\n").code == "a = b\n"
    with pytest.raises(dataclasses.FrozenInstanceError):
        name.value = "reward"  # type: ignore[misc]
