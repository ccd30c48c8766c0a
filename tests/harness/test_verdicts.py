"""Verdicts: gains, losses and noise are distinguished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlint.evidence.results import Behaviour, Difference, Measurement, Verdict
from rlint.harness.measure.memory import MemoryUse
from rlint.harness.measure.synchronisations import HostWaits, Traffic
from rlint.harness.measure.timing import Cost, Round
from rlint.harness.measure.verdicts import judge, measurements, undecided
from rlint.harness.session_options import THOROUGH
from simulated_rounds import Noise, process_rounds, seeded

QUIET = Noise(each=0.01)
USUAL = Noise(each=0.03, arm=0.01, drift=0.2, outliers=0.05)
BUSY = Noise(each=0.05, arm=0.02, drift=0.2, outliers=0.1)


def timed(
    noise: Noise,
    *,
    seed: int = 1,
    processes: int = 3,
    more: int = 0,
    claims: Sequence[str] = ("time",),
    **kind: Any,
) -> tuple[Measurement, ...]:
    """Measure as a session does: in some processes, and in more while the result is undecided."""
    rng = seeded(seed)
    rounds: list[Round] = []
    found: tuple[Measurement, ...] = ()
    for number in range(processes + more):
        rounds += process_rounds(rng, number, noise, **kind)
        if number + 1 >= processes:
            found = measurements(rounds, claims=claims, device="cpu")
            if not undecided(found, typical=100):
                break
    return found


def verdict_of(found: Sequence[Measurement], claim: str = "time", size: int | None = 100) -> Verdict:
    """The verdict on one claim."""
    return next(one.verdict for one in found if (one.claim, one.size) == (claim, size))


def verdicts(noise: Noise, count: int, *, slower: float) -> list[Verdict]:
    """The verdicts of many experiments."""
    return [verdict_of(timed(noise, seed=seed, more=THOROUGH.more, slower=slower)) for seed in range(count)]


noises = pytest.mark.parametrize(
    "noise",
    [
        pytest.param(QUIET, id="quiet", marks=pytest.mark.slow),
        pytest.param(USUAL, id="usual"),
        pytest.param(BUSY, id="busy", marks=pytest.mark.slow),
    ],
)
"""How much the times of a machine vary."""


@noises
def test_a_program_is_not_faster_than_itself(noise: Noise) -> None:
    """Comparisons of a program with itself always give "no change"."""
    found = verdicts(noise, 40, slower=1.0)
    assert found.count(Verdict.NO_CHANGE) == 40


@noises
@pytest.mark.parametrize("slower", [1.1, 1 / 1.1], ids=["slower", "faster"])
def test_ten_per_cent_are_found(noise: Noise, slower: float) -> None:
    """A change of 10 % is detected in 95 % of all cases."""
    expected = Verdict.SLOWER if slower > 1 else Verdict.FASTER
    assert verdicts(noise, 40, slower=slower).count(expected) >= 38


@pytest.mark.slow
@noises
def test_the_rates_hold_over_two_hundred_runs(noise: Noise) -> None:
    """There is no false alarm, and a slowdown of 10 % is detected in at least 95 %."""
    assert verdicts(noise, 200, slower=1.0).count(Verdict.NO_CHANGE) == 200
    assert verdicts(noise, 200, slower=1.1).count(Verdict.SLOWER) >= 190


def test_what_the_instrument_makes_of_nothing_is_no_gain() -> None:
    """If the control shows 20 %, a gain of 15 % does not count."""
    rounds = [
        Round(number, 100, Cost(1.20, 1.20), Cost(1.0, 1.0), Cost(1.05, 1.05))
        for number in range(3)
        for _ in range(9)
    ]
    found = measurements(rounds, claims=("time",), device="cpu")
    assert verdict_of(found) is Verdict.NO_CHANGE
    assert found[0].control is not None
    assert found[0].control.value == pytest.approx(1.2)


def test_a_gain_within_what_the_instrument_makes_of_nothing_is_none() -> None:
    """1.24 with (1.05-1.5) is a gain with a steady control, and none with a control of (0.7-1.4)."""

    def verdict(unsteady: float) -> Verdict:
        rounds = [
            Round(number, 100, Cost(pace, pace), Cost(control * pace, control * pace), Cost(after, after))
            for number in range(3)
            for at in range(9)
            for pace, control, after in [(1.0, unsteady ** (at % 3 - 1), 1 / 1.24 * 1.03 ** (at % 3 - 1))]
        ]
        return verdict_of(measurements(rounds, claims=("time",), device="cpu"))

    assert verdict(1.01) is Verdict.FASTER
    assert verdict(1.6) is Verdict.NO_CHANGE


def test_growth_within_what_the_instrument_makes_of_nothing_is_none() -> None:
    """An exponent that falls no more than that of the control is no gain."""

    def verdict(drift: float) -> Verdict:
        rounds = [
            Round(number, size, Cost(size, size), Cost(*[size ** (1 - drift)] * 2), Cost(*[size**0.8] * 2))
            for number in range(3)
            for size in (10, 100, 1000, 10_000)
            for _ in range(9)
        ]
        return verdict_of(measurements(rounds, claims=("exp",), device="cpu"), "exp", None)

    assert verdict(0.0) is Verdict.FASTER
    assert verdict(0.3) is Verdict.NO_CHANGE


@given(st.floats(0.2, 5), st.floats(1.01, 2))
@settings(max_examples=15)
def test_a_slower_fix_never_gets_a_better_verdict(slower: float, further: float) -> None:
    """Verdicts follow the cost: faster, then no change, then slower."""
    order = [Verdict.FASTER, Verdict.NO_CHANGE, Verdict.SLOWER]
    this, other = (
        order.index(verdict_of(timed(USUAL, slower=factor))) for factor in (slower, slower * further)
    )
    assert this <= other


@given(st.sampled_from([1e-6, 1e-3, 1.0, 60.0]), st.sampled_from([0.8, 1.0, 1.1]))
@settings(max_examples=12)
def test_long_and_short_runs_are_judged_the_same(seconds: float, slower: float) -> None:
    """The verdict does not depend on the unit of time."""
    plain = timed(USUAL, slower=slower)
    scaled = timed(USUAL, slower=slower, seconds=seconds)
    assert [one.verdict for one in plain] == [one.verdict for one in scaled]


def test_figures_are_the_medians_that_their_ratio_is_of() -> None:
    """The ratio shown is before divided by after."""
    for one in timed(BUSY, slower=1.3):
        assert one.ratio is not None
        assert one.before / one.after == pytest.approx(one.ratio.value)
        assert one.samples == 75


def test_spinning_shows_in_processor_time_alone() -> None:
    """A wait that no longer spins is a gain of the claim `cpu`, and no change of the claim `time`."""
    rounds = [
        Round(number, 100, Cost(0.005 * pace, 0.005 * pace), Cost(0.005, 0.005), Cost(0.005, 0.0001))
        for number in range(3)
        for pace in (0.99, 1.0, 1.01) * 3
    ]
    found = measurements(rounds, claims=("cpu", "time"), device="cpu")
    assert verdict_of(found, "cpu") is Verdict.FASTER
    assert verdict_of(found, "time") is Verdict.NO_CHANGE


# --- growth ---


def test_slower_growth_is_a_gain_of_its_own() -> None:
    """From quadratic to linear is "faster" in growth, with both exponents."""
    found = timed(
        USUAL,
        claims=("exp",),
        sizes=(100, 300, 1000, 3000),
        exponent=2,
        fixed_exponent=1,
    )
    one = next(one for one in found if one.claim == "exp")
    assert (one.verdict, one.size, one.unit, one.ratio) == (Verdict.FASTER, None, "exponent", None)
    assert (one.before, one.after) == pytest.approx((2, 1), abs=0.1)
    assert judge(None, found, declared=("exp",), device="cpu", typical=3000)[0] is Verdict.FASTER


def test_a_constant_gain_is_no_gain_in_growth() -> None:
    """A program that is twice as fast at all sizes has the same growth."""
    found = timed(USUAL, slower=0.5, sizes=(100, 300, 1000, 3000))
    assert verdict_of(found, "exp", None) is Verdict.NO_CHANGE
    assert verdict_of(found) is Verdict.FASTER


def test_three_sizes_are_too_few_for_growth() -> None:
    """No exponent is given if there are too few sizes."""
    found = timed(USUAL, sizes=(100, 300, 1000))
    assert {one.claim for one in found} == {"time", "cpu"}


# --- what is counted ---


def memory_of(before: Sequence[int], after: Sequence[int]) -> list[MemoryUse]:
    """Memory of runs on the host, with as many allocations as kilobytes."""
    return [
        MemoryUse(100, arm, run, peak, None, peak // 1000)
        for arm, peaks in (("before", before), ("after", after))
        for run, peak in enumerate(peaks)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1_000_000] * 3, [500_000] * 3, Verdict.FASTER),
        ([1_000_000] * 3, [1_100_000] * 3, Verdict.SLOWER),
        ([1_000_000] * 3, [1_020_000] * 3, Verdict.NO_CHANGE),
        ([1_000_000, 1_200_000, 1_000_000], [1_100_000] * 3, Verdict.NO_CHANGE),
        ([600] * 3, [1_200] * 3, Verdict.NO_CHANGE),
        ([1_000_000] * 3, [0] * 3, Verdict.FASTER),
    ],
    ids=["half", "a tenth more", "2 % more", "overlapping", "a few bytes", "nothing left"],
)
def test_memory_is_judged_by_its_runs(before: list[int], after: list[int], expected: Verdict) -> None:
    """Changes beyond 3 % count if the runs before and after do not overlap."""
    found = measurements([], memory_of(before, after), claims=("mem",), device="cpu")
    assert verdict_of(found, "mem") is expected


def test_memory_of_the_device_is_what_counts_on_it() -> None:
    """On a GPU, the memory of the GPU is compared."""
    uses = [
        MemoryUse(100, arm, 0, 10_000_000, peak, 5) for arm, peak in (("before", 2**30), ("after", 2**29))
    ]
    found = measurements([], uses, claims=("mem",), device="cuda")
    assert (found[0].before, found[0].after) == (2**30, 2**29)


def waits_of(before: int, after: int) -> list[HostWaits]:
    """Three runs of each arm."""
    return [
        HostWaits(100, arm, run, Traffic(waits=count))
        for arm, count in (("before", before), ("after", after))
        for run in range(3)
    ]


def test_the_last_synchronisation_may_go() -> None:
    """From one to zero is a gain, although there is no ratio."""
    found = measurements([], waits=waits_of(1, 0), claims=("sync",), device="cuda")
    assert [(one.verdict, one.ratio, one.before, one.after) for one in found] == [
        (Verdict.FASTER, None, 1, 0)
    ]
    assert judge(None, found, declared=("sync:cuda",), device="cuda", typical=100) == (Verdict.FASTER, None)


def test_none_before_and_after_is_no_change() -> None:
    """An unmeasured claim gets no verdict."""
    found = measurements([], waits=waits_of(0, 0), claims=("sync",), device="cuda")
    assert verdict_of(found, "sync") is Verdict.NO_CHANGE
    assert measurements([], waits=waits_of(0, 0), claims=("time",), device="cuda") == ()


# --- the verdict of a workload ---

SAME = Behaviour(20, (1,), 20)
OTHER = Behaviour(20, (1,), 20, (Difference("value", "result", 3, 1, "1", "2", "safe"),))


def test_another_behaviour_outweighs_all_speed() -> None:
    """A faster program with another behaviour is wrong; the first difference is the reason."""
    found = timed(QUIET, slower=0.1)
    verdict, reason = judge(OTHER, found, declared=("time",), device="cpu", typical=100)
    assert verdict is Verdict.DIFFERENT
    assert "`result` at seed 3" in (reason or "")


def test_too_few_cases_are_no_verdict() -> None:
    """With too few seeds at a size, there is no verdict on behaviour or speed."""
    few = Behaviour(20, (1, 4), 33, fewest=3)
    found = timed(QUIET, slower=0.1)
    verdict, reason = judge(few, found, declared=("time",), device="cpu", typical=100)
    assert verdict is Verdict.NOT_ENOUGH
    assert (reason or "").startswith("3 of 20 seeds were compared")
    wrong = Behaviour(20, (1, 4), 33, OTHER.differences, fewest=3)
    assert judge(wrong, found, declared=("time",), device="cpu", typical=100)[0] is Verdict.DIFFERENT


def test_what_is_claimed_for_other_sizes_is_not_judged_here() -> None:
    """A claim about GPUs is neither confirmed nor refuted on the CPU."""
    found = timed(QUIET, claims=())
    verdict, reason = judge(SAME, found, declared=("sync:cuda", "time:cuda"), device="cpu", typical=100)
    assert (verdict, reason) == (Verdict.NOT_RUN, "claimed on cuda only")


def test_a_workload_may_claim_nothing() -> None:
    """Behaviour is compared then, and there is no verdict about a gain."""
    verdict, reason = judge(SAME, (), declared=(), device="cpu", typical=1)
    assert verdict is Verdict.NOT_RUN
    assert reason == "no gain is claimed; only behaviour was compared"


def test_a_gain_that_costs_something_unclaimed_says_so() -> None:
    """Less memory for more time is a gain in memory, and the time is reported."""
    rng = seeded(1)
    rounds = [one for number in range(3) for one in process_rounds(rng, number, QUIET, slower=1.5)]
    found = measurements(rounds, memory_of([9_000_000] * 3, [1_000_000] * 3), claims=("mem",), device="cpu")
    verdict, reason = judge(SAME, found, declared=("mem",), device="cpu", typical=100)
    assert verdict is Verdict.FASTER
    assert "not claimed" in (reason or "")
    assert "wall time +5" in (reason or "")


def test_better_in_one_claim_and_worse_in_the_other_is_worse() -> None:
    """If two gains are claimed, both are required; the reason names the missing ones."""
    rng = seeded(1)
    rounds = [one for number in range(3) for one in process_rounds(rng, number, QUIET, slower=1.5)]
    uses = memory_of([9_000_000] * 3, [1_000_000] * 3)
    found = measurements(rounds, uses, claims=("time", "mem"), device="cpu")
    verdict, reason = judge(SAME, found, declared=("time", "mem"), device="cpu", typical=100)
    assert verdict is Verdict.SLOWER
    assert "better: peak memory -89%" in (reason or "")
    assert "worse: wall time" in (reason or "")


def test_the_typical_size_decides_and_others_are_reported() -> None:
    """A fix that gains at the typical size and loses on tiny inputs is a gain; the loss is reported."""
    rng = seeded(1)
    rounds = [one for number in range(3) for one in process_rounds(rng, number, QUIET, slower=0.5)]
    rounds += [
        one for number in range(3) for one in process_rounds(rng, number, QUIET, slower=1.5, sizes=(1,))
    ]
    found = measurements(rounds, claims=("time",), device="cpu")
    verdict, reason = judge(SAME, found, declared=("time",), device="cpu", typical=100)
    assert verdict is Verdict.FASTER
    assert "worse at size 1: wall time +" in (reason or "")


def test_few_rounds_are_reported() -> None:
    """If runs take minutes, the report says that there are few rounds."""
    rng = seeded(1)
    rounds = [one for number in range(3) for one in process_rounds(rng, number, QUIET, rounds=3)]
    found = measurements(rounds, claims=("time",), device="cpu")
    _, reason = judge(SAME, found, declared=("time",), device="cpu", typical=100)
    assert reason == "only 9 rounds at size 100, where runs are long"


def test_nothing_measured_is_no_verdict() -> None:
    """Without figures and comparisons, there is no positive verdict."""
    assert judge(SAME, (), declared=("alloc",), device="cpu", typical=100) == (
        Verdict.NOT_RUN,
        "allocations could not be measured",
    )
    assert judge(Behaviour(0, (), 0), (), declared=("time",), device="cpu", typical=1)[0] is Verdict.NOT_RUN


def test_a_process_that_lacks_a_size_is_left_out() -> None:
    """Partial results of a killed process are not mixed with the others."""
    rng = seeded(1)
    whole = [one for number in range(3) for one in process_rounds(rng, number, QUIET, sizes=(10, 100))]
    part = process_rounds(rng, 7, QUIET, sizes=(10,), slower=9)
    assert measurements(whole + part, claims=("time",), device="cpu") == measurements(
        whole, claims=("time",), device="cpu"
    )


# --- when to continue measuring ---


def test_noise_requires_more_and_clear_figures_do_not() -> None:
    """A gain of one half is clear at once; 6 % with 5 % noise is not."""
    assert not undecided(timed(QUIET, slower=0.5), typical=100)
    assert not undecided(timed(QUIET), typical=100)
    assert undecided(timed(BUSY, slower=1.06), typical=100)


def test_what_is_not_claimed_requires_nothing() -> None:
    """No further time is spent on figures without a verdict."""
    assert not undecided(timed(BUSY, slower=1.06, claims=("mem",)), typical=100)
    assert not undecided(timed(BUSY, slower=1.06), typical=7)
