"""Enumerations behave like those of the standard library."""

from __future__ import annotations

import copy
import enum
import json
import pickle

import pytest

from rlint.enums import Enum, IntEnum, IntFlag
from rlint.findings import Heat


class Ours(Enum):
    """An enumeration."""

    ONE = "one"
    TWO = 2

    def is_one(self) -> bool:
        """Methods are no members."""
        return self is Ours.ONE


class Standard(enum.Enum):
    """The same by the standard library."""

    ONE = "one"
    TWO = 2


class Level(IntEnum):
    """An enumeration with an order."""

    LOW = 0
    HIGH = 1


class TheirLevel(enum.IntEnum):
    """The same by the standard library."""

    LOW = 0
    HIGH = 1


class Flags(IntFlag):
    """An enumeration of bits."""

    READS = 1
    WRITES = 2
    RUNS = 4
    BOTH = READS | WRITES


class TheirFlags(enum.IntFlag):
    """The same by the standard library."""

    READS = 1
    WRITES = 2
    RUNS = 4
    BOTH = READS | WRITES


def test_members_are_found_by_name_and_by_value() -> None:
    """And are listed in the order of the text."""
    assert [(each.name, each.value) for each in Ours] == [(each.name, each.value) for each in Standard]
    assert len(Ours) == len(Standard)
    assert Ours["ONE"] is Ours("one") is Ours.ONE
    assert Ours.ONE.is_one()
    assert isinstance(Ours.TWO, Ours)
    with pytest.raises(ValueError, match="'three' is not a valid Ours"):
        Ours("three")
    with pytest.raises(KeyError):
        Ours["three"]


def test_they_look_the_same() -> None:
    """In messages, and where values are distinguished by their texts."""
    for ours, counterpart in zip((*Ours, *Level), (*Standard, *TheirLevel), strict=True):
        assert f"{ours} {ours!r}".replace("Ours", "Standard").replace("<Level", "<TheirLevel") == (
            f"{counterpart} {counterpart!r}"
        )
        assert bool(ours) == bool(counterpart)
    assert f"{Heat.HOT}" == "hot"


@pytest.mark.parametrize("member", [*Ours, *Level])
def test_there_is_one_of_each(member: Ours | Level) -> None:
    """Copies, and what comes back from another process, are the same."""
    assert copy.copy(member) is copy.deepcopy(member) is member
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(member, protocol)) is member  # noqa: S301 - our own
    assert {member: 1}[member] == 1


def test_numbers_have_an_order() -> None:
    """And are written as numbers."""
    assert Level.LOW < Level.HIGH == 1
    assert max(Level) is Level.HIGH
    assert json.dumps({"level": Level.HIGH}) == '{"level": 1}'
    assert hash(Level.HIGH) == hash(1)


@pytest.mark.parametrize("value", range(8))
def test_flags_make_sets_of_which_there_is_one_of_each(value: int) -> None:
    """As in the standard library, also for empty and combined flags."""
    ours, counterpart = Flags(value), TheirFlags(value)
    assert ours == counterpart == value
    assert bool(ours & Flags.BOTH) == bool(counterpart & TheirFlags.BOTH)
    assert ours | Flags.RUNS is Flags(value | 4)
    assert copy.deepcopy(ours) is pickle.loads(pickle.dumps(ours)) is ours  # noqa: S301 - our own
    assert isinstance(ours, Flags)
    assert str(ours) == str(value)


def test_sets_of_flags_are_shown_by_name() -> None:
    """For readable test failures."""
    assert repr(Flags.BOTH) == "<Flags.BOTH: 3>"
    assert repr(Flags.READS | Flags.RUNS) == "<Flags.READS|RUNS: 5>"
    assert repr(Flags(0)) == "<Flags: 0>"


@pytest.mark.parametrize("value", [-1, 8, 9, "1", None, 1.5])
def test_what_is_no_set_of_the_flags_is_refused(value: object) -> None:
    """Cached data may contain any value."""
    with pytest.raises(ValueError, match="is not a valid Flags"):
        Flags(value)
