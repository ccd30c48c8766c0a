"""Evidence files: the recorded gain, and the handling of broken files."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_sessions import (
    DIFFERENT,
    FASTER,
    MACHINE,
    NO_CHANGE,
    NOT_RUN,
    RL101,
    SLOWER,
    UNCLAIMED,
    cost,
    outcome,
    read,
    written,
)
from fixture_folders import FIXTURES
from rlint.evidence import recorded
from rlint.evidence.hashes import Hashes
from rlint.evidence.results import Ratio, RuleOutcome, Verdict
from rlint.output import evidence_lines, measured_page
from rlint.registry import catalogue
from rlint.registry.recorded_gain import Gain, recorded_gain

PATH = "concat-grown-buffer/evidence/cpu.json"


@pytest.mark.parametrize(
    ("outcomes", "gain"),
    [
        ((FASTER,), Gain.SOME),
        ((FASTER, SLOWER, NO_CHANGE), Gain.SOME),
        ((NO_CHANGE, SLOWER), Gain.NONE),
        ((NO_CHANGE, NOT_RUN), Gain.NONE),
        ((NO_CHANGE, DIFFERENT), Gain.UNKNOWN),
        ((UNCLAIMED, NOT_RUN), Gain.UNKNOWN),
    ],
)
def test_a_gain_takes_one_workload_and_none_takes_all(
    outcomes: tuple[RuleOutcome, ...], gain: Gain, tmp_path: Path
) -> None:
    """Outcomes that were not run, or claim nothing there, do not count; the file's first line agrees."""
    written(tmp_path, *outcomes)
    assert read(tmp_path).gain is gain
    assert recorded_gain("concat-grown-buffer", tmp_path) is gain


@pytest.mark.parametrize(
    ("cpu", "cuda", "gain"),
    [
        (NO_CHANGE, FASTER, Gain.SOME),
        (NO_CHANGE, SLOWER, Gain.NONE),
        (UNCLAIMED, NO_CHANGE, Gain.NONE),
        (UNCLAIMED, FASTER, Gain.SOME),
    ],
)
def test_a_gain_on_one_device_is_a_gain(
    cpu: RuleOutcome, cuda: RuleOutcome, gain: Gain, tmp_path: Path
) -> None:
    """A rule has no gain if it has none on all measured devices."""
    written(tmp_path, cpu, replace(cuda, device="cuda"))
    assert read(tmp_path).gain is gain
    assert recorded_gain("concat-grown-buffer", tmp_path) is gain


def test_asking_for_a_gain_reads_the_beginning_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every start of rlint reads the gain of all rules, so only the first lines are read."""
    written(tmp_path, *(replace(FASTER, workload=f"w{number}") for number in range(100)))
    place = tmp_path / "fixtures" / "rule" / "evidence" / "cpu.json"
    place.parent.mkdir(parents=True)
    place.write_bytes((tmp_path / PATH).read_bytes())
    read, taken = os.read, []

    def counted(handle: int, most: int) -> bytes:
        taken.append(read(handle, most))
        return taken[-1]

    monkeypatch.setattr(os, "read", counted)
    assert recorded_gain("rule", tmp_path / "fixtures") is Gain.SOME
    assert sum(map(len, taken)) < 1_000 < place.stat().st_size


# --- broken files ---


@pytest.mark.parametrize(
    "break_it",
    [
        lambda _: "",
        lambda text: text[:200],
        lambda _: "[]",
        lambda _: "[" * 100_000,
        lambda text: text.replace('"schema": 2', '"schema": 1'),
        lambda text: text.replace('"gain": "gains"', '"gain": "no gain"'),
        lambda text: text.replace('"faster"', '"wonderful"'),
        lambda text: text.replace('"before": 0.01', '"before": 1' + "0" * 400),
        lambda text: text.replace('"code": "RL101"', '"code": "RL305"'),
        lambda text: text.replace('"device": "cpu"', '"device": "cuda"'),
        lambda text: text.replace('"hashes"', '"hash"'),
    ],
)
def test_a_broken_file_is_reported_and_stops_nothing(break_it: Any, tmp_path: Path) -> None:
    """Linting continues; the message names the file and the command that rewrites it."""
    written(tmp_path, FASTER)
    path = tmp_path / PATH
    broken = break_it(path.read_text())
    assert broken != path.read_text()
    path.write_text(broken)
    evidence = read(tmp_path)
    assert evidence.recordings == ()
    [problem] = evidence.unreadable
    assert str(path) in problem
    assert "`rlint verify RL101 --record`" in problem
    assert evidence_lines.line(evidence) == (
        "unknown, since the evidence cannot be read (`rlint verify --check-evidence` says why)"
    )


def test_bytes_that_are_no_text_stop_nothing(tmp_path: Path) -> None:
    """The same for a file that is not even UTF-8, and for a folder in its place."""
    written(tmp_path, FASTER)
    path = tmp_path / PATH
    path.write_bytes(b"\xff\xfe{")
    assert read(tmp_path).unreadable
    path.unlink()
    path.mkdir()
    assert read(tmp_path).unreadable
    assert recorded_gain("concat-grown-buffer", tmp_path) is Gain.UNKNOWN


@given(st.data())
@settings(max_examples=60)
def test_no_damage_to_a_file_is_a_crash(data: st.DataObject) -> None:
    """Whatever value any key is given: it is read, or a ValueError says what is wrong."""
    text = recorded.to_text(
        recorded.Recording("RL101", "x", "cpu", "", MACHINE, Hashes("", ""), (FASTER, NOT_RUN))
    )
    whole = json.loads(text)
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False)
    place[key] = data.draw(st.recursive(plain, lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
    said = ""
    try:
        assert recorded.from_text(json.dumps(whole)).code == whole["code"]
    except ValueError as error:
        said = str(error) or "nothing"
    assert said != "nothing"


amounts = st.floats(min_value=0, max_value=1e12, allow_nan=False) | st.just(math.inf)
ratios = st.none() | st.builds(Ratio, amounts, amounts, amounts)
costs = st.builds(
    lambda claim, size, before, after, ratio, verdict: replace(
        cost(claim, 1.0, 1.0, verdict), size=size, before=before, after=after, ratio=ratio
    ),
    st.sampled_from(["time", "mem", "exp", "sync"]),
    st.none() | st.integers(0, 10**9),
    amounts,
    amounts,
    ratios,
    st.sampled_from(list(Verdict)),
)


@given(st.lists(costs, max_size=3), st.sampled_from(list(Verdict)), st.none() | st.text())
@settings(max_examples=60)
def test_a_file_holds_what_was_measured(found: list[Any], verdict: Verdict, reason: str | None) -> None:
    """Reading returns the written data with rounded figures; writing that again gives the same bytes."""
    one = outcome("RL101", *found, verdict=verdict, reason=reason)
    given_ = recorded.Recording("RL101", "x", "cpu", "today", MACHINE, Hashes("a", "b", "c"), (one,))
    text = recorded.to_text(given_)
    back = recorded.from_text(text)
    assert recorded.to_text(back) == text
    assert replace(back, outcomes=()) == replace(given_, outcomes=())
    assert replace(back.outcomes[0], measurements=()) == replace(one, measurements=())
    for was, now in zip(found, back.outcomes[0].measurements, strict=True):
        assert (was.claim, was.size, was.verdict) == (now.claim, now.size, now.verdict)
        assert now.before == pytest.approx(was.before, rel=1e-3)
        assert (now.ratio is None) == (was.ratio is None)


@given(st.lists(costs, max_size=3), st.sampled_from(list(Verdict)), st.none() | st.text())
@settings(max_examples=60)
def test_whatever_was_measured_can_be_reported(
    found: list[Any], verdict: Verdict, reason: str | None
) -> None:
    """Any figure can be reported: each row of the table has all its cells."""
    promise = {"claim": "time", "low": 2, "high": 3.0, "source": "|"}
    one = outcome("RL101", *found, verdict=verdict, reason=reason, estimate=promise)
    recording = recorded.Recording("RL101", "x", "cpu", "", MACHINE, Hashes("", ""), (one,))
    evidence = recorded.Evidence(RL101, (recording,))
    assert evidence_lines.line(evidence)
    assert evidence_lines.cell(evidence)
    section = measured_page.section(evidence, {"cpu": ["it has changed since"]})
    assert "Stale on cpu: it has changed since." in section
    rows = [row for row in section.splitlines() if row.startswith("|")]
    assert len(rows) >= 3
    for row in rows:
        assert row.replace("\\|", "").count("|") == 8


def test_the_shipped_evidence_can_be_read() -> None:
    """Every evidence file in this checkout is one that this version wrote or could have written."""
    for entry in catalogue.catalogue():
        evidence = recorded.of(entry, FIXTURES)
        assert evidence.unreadable == ()
        assert evidence.gain is (recorded_gain(entry.name) if entry.is_builtin else Gain.UNKNOWN)
        for recording in evidence.recordings:
            path = FIXTURES / entry.name / "evidence" / f"{recording.device}.json"
            assert recorded.to_text(recording) == path.read_text(encoding="utf-8")
