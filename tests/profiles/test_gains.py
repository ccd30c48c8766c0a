"""Shares, Amdahl's law and the classes of hot functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.findings import Finding, Heat, Position
from rlint.profiles import gains, symptoms
from rlint.profiles.gains import Stake
from rlint.profiles.heated import Basis, GainInterval
from rlint.profiles.heating import Heater, recognised
from rlint.profiles.profile_model import Claim, Frame
from rlint.profiles.ratios import Known, TimeRatio
from rlint.profiles.source_places import ProfiledSource
from rlint.profiles.stacks import Stacks

FRAMES = [
    Frame("train.py", name, line) for name, line in (("main", 1), ("act", 5), ("step", 9), ("rest", 12))
]
HALF = Stacks(FRAMES, {(0, 1): 2.0, (0, 1, 2): 3.0, (0, 3): 5.0}, format="test")
ACT, STEP = (Claim(whole=frozenset({number})) for number in (1, 2))


def test_a_half_made_twice_as_fast_takes_off_a_quarter() -> None:
    """Amdahl's law for one place, with the interval of its ratio."""
    assert gains.share(HALF, ACT) == GainInterval(0.5, 0.5)
    assert gains.saved(HALF, [Stake(ACT, 2.0, 4.0)]) == GainInterval(0.25, pytest.approx(0.375))


def test_a_place_inside_another_counts_once_with_the_better_ratio() -> None:
    """0.3 of the run becomes ten times as fast, the other 0.2 twice as fast."""
    both = gains.saved(HALF, [Stake(ACT, 2.0, 2.0), Stake(STEP, 10.0, 10.0)])
    assert both.high == pytest.approx(0.3 * 0.9 + 0.2 * 0.5)
    assert gains.saved(HALF, [Stake(ACT, 2.0, 2.0), Stake(ACT, 2.0, 2.0)]) == GainInterval(0.25, 0.25)


def test_a_rule_that_may_lose_can_make_the_run_longer() -> None:
    """The interval reaches below zero."""
    assert gains.saved(HALF, [Stake(ACT, 0.5, 2.0)]).low == pytest.approx(-0.5)


@given(
    st.dictionaries(
        st.lists(st.integers(0, 5), min_size=1, max_size=5).map(tuple),
        st.floats(0.01, 10),
        min_size=1,
        max_size=8,
    ),
    st.lists(
        st.tuples(st.sets(st.integers(0, 5), min_size=1), st.floats(1, 50), st.floats(1, 3)), max_size=5
    ),
)
def test_sums_are_between_the_best_and_all(
    weights: dict[tuple[int, ...], float], drawn: list[tuple[set[int], float, float]]
) -> None:
    """Fixes together gain at least what the best does, at most what all do alone, and never the whole run."""
    profile = Stacks([Frame("f.py", f"f{n}", n) for n in range(6)], weights, format="test")
    stakes = [Stake(Claim(whole=frozenset(frames)), low, low * more) for frames, low, more in drawn]
    together = gains.saved(profile, stakes)
    alone = [gains.saved(profile, [stake]) for stake in stakes]
    for bound in ("low", "high"):
        values = [getattr(each, bound) for each in alone]
        assert max(values, default=0.0) - 1e-9 <= getattr(together, bound) <= sum(values) + 1e-9
    assert together.low <= together.high + 1e-9 < 1


SOURCE = """\
import numpy as np


def main(env):
    rows = np.empty(0)
    for _ in range(9):
        rows = np.append(rows, env.step(0))
    for row in rows:
        print(row)


class Buffer:
    def add(self, row):
        self.rows.append(row)

    def sample(self):
        return np.stack(self.rows)
"""


def finding(line: int, column: int = 1, heat: Heat = Heat.HOT, **more: str) -> Finding:
    """A finding of RL101 in that source."""
    place = Position(line, column), Position(line, column + 4)
    return Finding(
        more.get("code", "RL101"), "name", more.get("message", "m"), "train.py", *place, line, line, heat
    )


def test_a_finding_means_its_expression_its_loop_or_its_class() -> None:
    """The share is determined by the place of the finding."""
    source = ProfiledSource(SOURCE)
    place = source.place_of(finding(7, 16))
    assert (place.definition.qualname, place.lines) == ("main", range(7, 8))
    assert (place.calls, place.only_here) == ({"append", "step"}, {"append", "step"})
    assert source.place_of(finding(8, 5)).lines == range(8, 10)
    assert {each.qualname for each in source.place_of(finding(12)).whole} == {"Buffer.add", "Buffer.sample"}


def heater(folder: Path, profile: Stacks) -> Heater:
    """That source in a file, with a profile of it."""
    (folder / "train.py").write_text(SOURCE)
    return Heater(profile, "p", {"train.py": folder / "train.py"})


def test_lines_functions_and_what_is_unknown(tmp_path: Path) -> None:
    """A finding says what its share is based on."""
    lines = [Frame("train.py", "main", 7), Frame("train.py", "main", 9), Frame("train.py", "sample", 17)]
    sampled = Stacks(lines, {(0,): 3.0, (1,): 1.0, (1, 2): 4.0}, format="test", may_have_lines=True)
    found = [finding(7, 16), finding(17, 9), finding(14, 9), finding(5, 5, Heat.COLD)]
    ratios = {"RL101": TimeRatio(Known.MEASURED, 2.0, 2.0)}
    heated = heater(tmp_path, sampled).heating(found, ratios).findings
    assert (heated[found[0]].basis, heated[found[0]].share) == (Basis.LINES, GainInterval(0.375, 0.375))
    assert heated[found[0]].saved == GainInterval(0.1875, 0.1875)
    assert heated[found[1]].share == GainInterval(0.5, 0.5)
    assert (heated[found[2]].basis, heated[found[2]].share) == (Basis.NOT_SEEN, GainInterval(0, 0))
    assert (heated[found[3]].basis, heated[found[3]].share) == (Basis.OTHER_PLACE, None)


@pytest.mark.parametrize("known", [Known.NOT, Known.NO_GAIN, Known.OTHER])
def test_no_figure_where_none_was_measured(tmp_path: Path, known: Known) -> None:
    """The share is shown, but no gain that was not measured."""
    profile = Stacks([Frame("train.py", "main", 7)], {(0,): 1.0}, format="test", may_have_lines=True)
    heating = heater(tmp_path, profile).heating([finding(7, 16)], {"RL101": TimeRatio(known)})
    [heated] = heating.findings.values()
    assert (heated.share, heated.saved, heated.known) == (GainInterval(1.0, 1.0), None, known)
    assert heating.saved_all == GainInterval(0, 0)


def test_hot_functions_that_no_rule_explains(tmp_path: Path) -> None:
    """Hot functions are listed with the class of bottleneck that their names suggest, except those below a
    finding.
    """
    frames = [
        Frame("train.py", "main", 7),
        Frame("train.py", "sample", 17),
        Frame("/x/torch/serialization.py", "save", 1),
    ]
    profile = Stacks(frames, {(0,): 1.0, (0, 1): 5.0, (0, 2): 4.0}, format="test", may_have_lines=True)
    hot = heater(tmp_path, profile).heating([], {}).hot
    assert [(each.name, each.symptom) for each in hot] == [
        ("main", None), ("Buffer.sample", "replay buffer sampling"), ("save", "checkpoints"),
    ]  # fmt: skip
    explained = heater(tmp_path, profile).heating([finding(17, 9)], {}).hot
    assert "Buffer.sample" not in [each.name for each in explained]


@pytest.mark.parametrize(
    ("frame", "symptom"),
    [
        (
            Frame("", "<method 'item' of 'torch._C.TensorBase' objects>", 0),
            "transfers between host and device",
        ),
        (Frame("", "<built-in method item of Tensor object>", 0), "transfers between host and device"),
        (Frame("", "<built-in method time.sleep>", 0), "waiting and locks"),
        (Frame("", "<built-in method gc.collect>", 0), "garbage collection"),
        (Frame("", "<built-in method builtins.print>", 0), "logging"),
        (Frame("/v/site-packages/torch/_tensor.py", "backward", 5), "gradients"),
        (Frame("torch/optim/adam.py", "step", 5), "weight updates"),
        (Frame("/v/gymnasium/wrappers/common.py", "step", 5), "environment steps"),
        (Frame("/usr/lib/python3.11/json/decoder.py", "decode", 5), None),
        (Frame("", "<built-in method builtins.len>", 0), None),
    ],
)
def test_what_libraries_are_a_symptom_of(frame: Frame, symptom: str | None) -> None:
    """Functions are recognised by file and name, as in any profiler's output."""
    found = symptoms.of_frame(frame)
    assert (found.name if found else None) == symptom


def test_every_class_names_its_section_and_has_advice() -> None:
    """The table is complete, and its names are told apart."""
    assert len({each.name for each in symptoms.SYMPTOMS}) == len(symptoms.SYMPTOMS)
    for each in symptoms.SYMPTOMS:
        assert each.seed.startswith("S")
        assert each.advice
        assert each.own or each.library


def test_findings_are_recognised_after_fixing() -> None:
    """By file, code and message, in order: lines have moved."""
    before = [finding(7, message="a"), finding(9, message="b"), finding(11, message="a")]
    after = [finding(8, message="a"), finding(12, message="a"), finding(14, message="new")]
    assert recognised(after, before) == {after[0]: before[0], after[1]: before[2]}
