"""Known ratios and exponents are recovered, with correct confidence intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlint.evidence.results import Ratio
from rlint.harness.measure.estimates import RESAMPLES, choose_processes, growth, resample, slope
from simulated_rounds import seeded

costs = st.floats(1e-6, 1e3)
processes = st.lists(st.lists(st.tuples(costs, costs), min_size=1, max_size=5), min_size=1, max_size=3)


def ratio_of_medians(
    processes: Sequence[Sequence[tuple[float, float]]], *, resamples: int = RESAMPLES, seed: int = 0
) -> Ratio:
    """The ratio of the first cost of each round to the second, for the rounds of each process."""
    rng = random.Random(seed)  # noqa: S311 - statistics
    choices = choose_processes(len(processes), rng, resamples)
    return resample(processes, choices=choices, rng=rng).ratio(0, 1)


def test_costs_without_noise_have_a_ratio_without_doubt() -> None:
    """Twice as fast in each round of each process is a ratio of exactly 2."""
    found = ratio_of_medians([[(2.0, 1.0)] * 10, [(4.0, 2.0)] * 10])
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))


def test_rounds_that_were_disturbed_do_not_move_the_ratio() -> None:
    """Three disturbed rounds of eleven do not change the estimate."""
    rounds = [(1.0, 0.5)] * 8 + [(9.0, 0.5), (1.0, 7.0), (1.0, 5.0)]
    assert ratio_of_medians([rounds, rounds]).value == pytest.approx(2)


def test_the_same_costs_give_the_same_interval() -> None:
    """The same costs give the same report."""
    rng = seeded(5)
    given_costs = [[(rng.random() + 1, rng.random() + 1) for _ in range(9)] for _ in range(3)]
    assert ratio_of_medians(given_costs, seed=7) == ratio_of_medians(given_costs, seed=7)


def test_processes_that_disagree_make_the_interval_wide() -> None:
    """A hundred rounds in each of three processes are not three hundred independent measurements."""
    found = ratio_of_medians([[(share, 1.0)] * 100 for share in (0.9, 1.0, 1.1)])
    assert found.low < 0.92
    assert found.high > 1.08


def test_more_rounds_make_the_interval_narrow() -> None:
    """Measuring longer pays."""
    rng = seeded(5)

    def width(count: int) -> float:
        noisy = [[(rng.lognormvariate(0, 0.2), 1.0) for _ in range(count)] for _ in range(3)]
        found = ratio_of_medians(noisy)
        return found.high - found.low

    assert width(60) < 0.6 * width(10)


def test_what_disturbs_both_arms_of_a_round_does_not_count() -> None:
    """A machine of varying speed affects both arms, and the ratio stays precise."""
    rng = seeded(5)
    rounds = [(2 * pace, pace) for pace in (rng.lognormvariate(0, 0.5) for _ in range(30))]
    found = ratio_of_medians([rounds, rounds])
    assert found.high - found.low < 1e-9


@given(processes)
@settings(max_examples=20)
def test_the_measured_ratio_is_in_its_interval(measured: list[list[tuple[float, float]]]) -> None:
    """A figure is never outside of its own interval."""
    found = ratio_of_medians(measured, resamples=200)
    assert found.low <= found.value <= found.high


@given(processes, st.sampled_from([1e-3, 0.5, 2.0, 1e3]))
@settings(max_examples=20)
def test_units_do_not_matter(measured: list[list[tuple[float, float]]], unit: float) -> None:
    """The ratio does not depend on the unit."""
    scaled = [[(before * unit, after * unit) for before, after in rounds] for rounds in measured]
    plain, other = (ratio_of_medians(one, resamples=100) for one in (measured, scaled))
    assert (other.value, other.low, other.high) == pytest.approx((plain.value, plain.low, plain.high))


@given(processes)
@settings(max_examples=20)
def test_undoing_a_fix_gives_the_inverse_ratio(measured: list[list[tuple[float, float]]]) -> None:
    """With the arms exchanged, a ratio of 2 is 1/2."""
    undone = [[(after, before) for before, after in rounds] for rounds in measured]
    found, other = (ratio_of_medians(one, resamples=100) for one in (measured, undone))
    assert found.value * other.value == pytest.approx(1)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6, unique=True), st.floats(-3, 3), st.floats(-3, 3))
def test_a_line_has_its_slope(xs: list[float], steep: float, start: float) -> None:
    """Least squares give back a line that goes through all points."""
    if max(xs) - min(xs) > 0.1:
        assert slope(xs, [start + steep * x for x in xs]) == pytest.approx(steep, abs=1e-9)


def test_growth_is_the_exponent_of_the_size() -> None:
    """Costs like the square of the size before and like the size after: exponents 2 and 1."""
    rng = seeded(5)
    choices = choose_processes(3, rng)

    def noisy(true: float) -> float:
        return true * rng.lognormvariate(0, 0.05)

    points = {
        size: resample(
            [[(noisy(size**2 * 1e-6), noisy(size * 1e-5)) for _ in range(15)] for _ in range(3)],
            choices=choices,
            rng=rng,
        )
        for size in (0, 10, 100, 1000, 10_000)
    }
    found = growth(points)
    assert found is not None
    assert found.slopes == pytest.approx((2, 1), abs=0.02)
    assert found.difference.low < 1 < found.difference.high
    assert found.difference.high - found.difference.low < 0.05


def test_one_size_has_no_growth() -> None:
    """Without enough points, there is no exponent."""
    rng = seeded(5)
    point = resample([[(1.0, 1.0)]], choices=choose_processes(1, rng), rng=rng)
    assert growth({10: point}) is None
    assert growth({0: point, 10: point}) is None


def test_a_clock_that_shows_nothing_does_no_harm() -> None:
    """If a coarse clock measures 0 seconds, there is a figure and no crash."""
    found = ratio_of_medians([[(0.0, 1.0)] * 3])
    assert math.isfinite(found.value)
