"""Delta debugging: what it finds, and how many tests that takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.trial.ddmin import ddmin


@given(st.data())
def test_the_items_at_fault_are_found_and_no_others(data: st.DataObject) -> None:
    """For any number of items, exactly those that fail together are found."""
    number = data.draw(st.integers(1, 40))
    culprits = data.draw(st.sets(st.integers(0, number - 1), min_size=1, max_size=4))
    assert set(ddmin(range(number), lambda some: culprits <= set(some))) == culprits


@given(st.integers(1, 60), st.data())
def test_what_is_found_is_minimal(number: int, data: st.DataObject) -> None:
    """Where several groups are at fault, one of them is found, in the order of the items."""
    numbers = st.sets(st.integers(0, number - 1), min_size=1, max_size=3)
    groups = data.draw(st.lists(numbers, min_size=1, max_size=3))
    found = ddmin(range(number), lambda some: any(group <= set(some) for group in groups))
    assert set(found) in groups
    assert found == sorted(found)


@pytest.mark.parametrize("number", [2, 100, 1000])
def test_one_item_takes_about_two_tests_for_each_halving(number: int) -> None:
    """A thousand fixes, one of which is at fault, take twenty runs of the command, not a thousand."""
    tried: list[int] = []

    def fails(some: Sequence[int]) -> bool:
        tried.append(len(some))
        return number - 1 in some

    assert ddmin(range(number), fails) == [number - 1]
    assert len(tried) <= 2 * number.bit_length()
