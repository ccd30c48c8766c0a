"""Plain values behave like frozen dataclasses."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, fields, is_dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.frozen import frozen, mutable, ordered, single


@frozen
class Ours:
    """A value."""

    number: int
    names: tuple[str, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Standard:
    """The same by the standard library."""

    number: int
    names: tuple[str, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@frozen
class Kept:
    """A value with a computed field, a list and a position."""

    number: int
    names: list[str] = field(default_factory=list)
    double: int = field(init=False)
    place: int | None = field(default=None, init=False, compare=False)
    seen: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Compute the other fields."""
        self.double = 2 * self.number


@frozen
class One:
    """A value with one field."""

    number: int


@ordered
class Place:
    """A value with an order."""

    line: int
    column: int


@mutable
class Count:
    """A mutable value that refers to another one."""

    number: int
    seen: list[int] = field(default_factory=list)
    next: Count | None = None


@single
class Node:
    """A value that is compared by identity."""

    number: int


PARTS = st.tuples(
    st.integers(0, 2), st.lists(st.sampled_from("ab"), max_size=2).map(tuple), st.text(max_size=1)
)


@given(PARTS, PARTS)
def test_values_are_distinguished_by_their_fields(
    one: tuple[int, tuple[str, ...], str], other: tuple[int, tuple[str, ...], str]
) -> None:
    """Equality, hash and representation are those of the standard library."""
    assert (Ours(*one) == Ours(*other)) == (Standard(*one) == Standard(*other))
    assert hash(Ours(*one)) == hash(Standard(*one))
    assert repr(Ours(*one)) == repr(Standard(*one)).replace("Standard", "Ours")
    assert len({Ours(*one), Ours(*other)}) == len({Standard(*one), Standard(*other)})


def test_values_are_dataclasses() -> None:
    """They can be replaced, copied, pickled and matched."""
    value = Ours(1, ("a",))
    assert is_dataclass(value)
    assert [each.name for each in fields(value)] == ["number", "names", "note"]
    assert replace(value, number=2) == Ours(2, ("a",))
    assert copy.deepcopy(value) == value == pickle.loads(pickle.dumps(value))  # noqa: S301
    match value:
        case Ours(number, names):
            assert (number, names) == (1, ("a",))
    assert value != Standard(1, ("a",))
    assert One(1) == One(1) != One(2)
    assert hash(One(1)) == hash(One(1))


def test_values_are_made_as_the_standard_library_makes_them() -> None:
    """Fields are passed by position or name, computed fields are set, and no two values share a list."""
    one, other = Kept(1), Kept(number=2, names=["a"])
    assert (one.double, one.names, one.place, one.seen) == (2, [], None, [])
    assert (other.double, other.names) == (4, ["a"])
    assert one.names is not Kept(1).names
    assert one.seen is not Kept(1).seen
    assert one == Kept(1) != other
    for wrong in (Kept, lambda: Kept(1, [], 2), lambda: Kept(1, other=2)):  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            wrong()


@given(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_values_with_an_order_are_compared_by_their_fields(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    """The first field counts more than the second."""
    first, second = Place(*one), Place(*other)
    assert (first < second, first <= second) == (one < other, one <= other)
    assert (first > second, first >= second) == (one > other, one >= other)
    assert (first == second) == (one == other)
    assert len({first, second}) == len({one, other})
    with pytest.raises(TypeError):
        _ = first < 1  # type: ignore[operator]


def test_values_that_change_are_equal_and_not_hashed() -> None:
    """As those of a plain dataclass."""
    count = Count(1)
    count.seen.append(2)
    assert count == Count(1, [2]) != Count(1)
    assert copy.deepcopy(count) == count == pickle.loads(pickle.dumps(count))  # noqa: S301
    with pytest.raises(TypeError):
        hash(count)
    count.next = count
    assert repr(count) == "Count(number=1, seen=[2], next=...)"


def test_single_values_are_equal_to_themselves_alone() -> None:
    """Two with equal fields are different."""
    node = Node(1)
    assert node == node != Node(1)  # noqa: PLR0124
    assert len({node, Node(1)}) == 2
    assert repr(node) == "Node(number=1)"


class Twice(One):
    """A class that derives from a value class, with its own constructor."""

    def __init__(self, half: int) -> None:
        super().__init__(2 * half)


def test_a_derived_class_is_made_in_its_own_way_each_time() -> None:
    """Also if it is the first use of the value class."""

    @frozen
    class Length:
        metres: float

    class Feet(Length):
        def __init__(self, feet: float) -> None:
            super().__init__(feet / 4)

    assert [Feet(8).metres, Feet(8).metres, Length(8).metres, Feet(8).metres] == [2, 2, 8, 2]
    assert [Twice(3).number, One(3).number, Twice(3).number] == [6, 3, 6]
