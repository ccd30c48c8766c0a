"""When a command counts as slower."""

from __future__ import annotations

import pytest

from rlint.trial.speed import PAIRS, Speed, compare

STEADY = (1.0, 1.01, 0.99, 1.0, 1.0, 1.02, 0.98)


@pytest.mark.parametrize(
    ("before", "after", "slower"),
    [
        (STEADY, tuple(seconds * 1.2 for seconds in STEADY), True),
        (STEADY, tuple(seconds * 0.8 for seconds in STEADY), False),
        (STEADY, STEADY, False),
        (STEADY, tuple(seconds * 1.04 for seconds in STEADY), False),  # below what counts
        (STEADY, (5.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9), False),  # one run that was held up
        ((1.0, 2.0, 1.5, 1.1, 1.9, 1.2, 1.7), (1.3, 2.2, 1.8, 1.3, 2.3, 1.4, 1.9), False),  # all noise
        ((0.01,) * 7, (0.02,) * 7, False),  # ten milliseconds are the start of a process
    ],
)
def test_slower_is_beyond_noise(before: tuple[float, ...], after: tuple[float, ...], slower: bool) -> None:
    """A difference counts if nearly all pairs show it and runs without fixes differ less."""
    assert Speed(before, after).is_slower == slower


def test_runs_are_interleaved() -> None:
    """Each arm is first in every second pair, so that drift affects both."""
    order: list[str] = []

    def timed(arm: str) -> float:
        order.append(arm)
        return 1.0

    speed = compare(lambda: timed("before"), lambda: timed("after"))
    assert (len(speed.before), len(speed.after)) == (PAIRS, PAIRS)
    assert order[:4] == ["before", "after", "after", "before"]
    assert "1.00 times as long" in str(speed)
