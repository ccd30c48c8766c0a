"""Measurements of a session are written to evidence files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from evidence_sessions import FASTER, MACHINE, cost, outcome, read, session
from rlint.errors import RlintError
from rlint.evidence.hashes import Hashes
from rlint.evidence.results import Verdict
from rlint.harness.record_evidence import record


def test_what_is_recorded_can_be_read(tmp_path: Path) -> None:
    """One file per rule and device, with all results of the session."""
    cuda = outcome("RL101", cost("time", 0.4, 0.1), device="cuda")
    other = outcome("RL305", cost("mem", 4e6, 2e6))
    paths = record(session(FASTER, cuda, other), tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "concat-grown-buffer/evidence/cpu.json",
        "concat-grown-buffer/evidence/cuda.json",
        "cloned-state-dict/evidence/cpu.json",
    ]
    first, second = read(tmp_path).recordings
    assert (first.code, first.name, first.device) == ("RL101", "concat-grown-buffer", "cpu")
    assert (first.machine, first.date) == (MACHINE, "2026-03-01T12:30:00+00:00")
    assert (first.outcomes, second.outcomes) == ((FASTER,), (cuda,))
    assert read(tmp_path, "RL305").recordings[0].outcomes == (other,)
    assert read(tmp_path).unreadable == ()


def test_recording_again_changes_nothing(tmp_path: Path) -> None:
    """The same session gives the same bytes, and a changed measurement one changed line."""
    [path] = record(session(FASTER), tmp_path)
    before = path.read_text()
    assert before.endswith("}\n")
    record(session(FASTER), tmp_path)
    assert path.read_text() == before
    record(session(replace(FASTER, measurements=(cost("time", 0.010, 0.0021),))), tmp_path)
    pairs = zip(before.splitlines(), path.read_text().splitlines(), strict=True)
    assert len([1 for one, other in pairs if one != other]) == 1
    assert os.listdir(path.parent) == ["cpu.json"]


def test_figures_have_four_digits(tmp_path: Path) -> None:
    """More would be noise in every diff."""
    exact = cost("time", 0.0123456789, 0.001)
    [path] = record(session(outcome("RL101", exact)), tmp_path)
    assert '"before": 0.01235,' in path.read_text()


@pytest.mark.parametrize("how", ["quick", "interrupted"])
def test_half_a_run_is_no_evidence(how: str, tmp_path: Path) -> None:
    """A quick or interrupted run is refused, and nothing is written."""
    with pytest.raises(RlintError, match=how):
        record(session(FASTER, **{how: True}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_not_there_gets_no_file(tmp_path: Path) -> None:
    """Without a GPU no evidence about GPUs is written, and older evidence is kept."""
    there = outcome("RL101", cost("time", 0.4, 0.1), device="cuda")
    record(session(there), tmp_path)
    absent = outcome("RL101", verdict=Verdict.NOT_RUN, device="cuda", claims=("time",), reason="no GPU")
    assert [path.name for path in record(session(FASTER, absent), tmp_path)] == ["cpu.json"]
    assert [one.outcomes for one in read(tmp_path).recordings] == [(FASTER,), (there,)]


def test_what_did_not_come_to_an_end_is_not_recorded(tmp_path: Path) -> None:
    """The other rules are recorded, and the message names the workload."""
    killed = outcome("RL305", verdict=Verdict.NOT_RUN, failed=True, reason="was killed", workload="big")
    with pytest.raises(RlintError, match=r"RL305 cloned-state-dict on cpu was not recorded: big did not"):
        record(session(killed, FASTER), tmp_path)
    assert read(tmp_path).recordings
    assert not read(tmp_path, "RL305").recordings


def test_too_few_cases_are_not_recorded(tmp_path: Path) -> None:
    """Without a result, no evidence is written."""
    few = replace(FASTER, verdict=Verdict.NOT_ENOUGH)
    with pytest.raises(RlintError, match="too few cases of replay-buffer were compared"):
        record(session(few), tmp_path)
    assert not read(tmp_path).recordings


def test_a_rule_that_changed_meanwhile_is_not_recorded(tmp_path: Path) -> None:
    """If the rule has changed since, its figures are not recorded for the new text."""
    before = {"RL101": Hashes("another", "another")}
    with pytest.raises(RlintError, match="changed while it was measured"):
        record(session(FASTER), tmp_path, measured=before)
    assert not read(tmp_path).recordings


def test_ones_own_files_are_not_recorded(tmp_path: Path) -> None:
    """Only rules have evidence."""
    own = outcome("src/agent.py", cost("time", 0.2, 0.1))
    with pytest.raises(RlintError, match=r"src/agent\.py is not a rule"):
        record(session(own), tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be written to here")
def test_a_read_only_place_is_named(tmp_path: Path) -> None:
    """An installed package may be read-only."""
    tmp_path.chmod(0o500)
    with pytest.raises(RlintError, match="cannot be written"):
        record(session(FASTER), tmp_path)


def test_a_place_that_is_a_file_is_named(tmp_path: Path) -> None:
    """The message says which file cannot be written, instead of a traceback."""
    (tmp_path / "concat-grown-buffer").write_text("in the way")
    with pytest.raises(RlintError, match=r"evidence.*cpu\.json cannot be written"):
        record(session(FASTER), tmp_path)
