"""Which evidence is missing, stale or wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evidence_sessions import DIFFERENT, FASTER, RL101, cost, outcome, session
from fixture_folders import ROOT
from rlint.evidence.declared import Devices, devices_of
from rlint.evidence.hashes import hash_of_fixture
from rlint.evidence.results import Verdict
from rlint.harness import Workload
from rlint.harness.check_evidence import check
from rlint.harness.program import AFTER, SAFE
from rlint.harness.record_evidence import hashes_of, record
from rlint.harness.subjects import fixtures_of
from rlint.registry import catalogue


def test_a_fixture_is_what_is_run(tmp_path: Path) -> None:
    """`before.py` and `workload.py` count; line ends and other files do not."""
    (tmp_path / "before.py").write_bytes(b"x = 1\n")
    without = hash_of_fixture(tmp_path)
    (tmp_path / "workload.py").write_bytes(b"y = 1\n")
    plain = hash_of_fixture(tmp_path)
    assert plain != without
    (tmp_path / "clean.py").write_bytes(b"z = 1\n")
    (tmp_path / "workload.py").write_bytes(b"y = 1\r\n")
    assert hash_of_fixture(tmp_path) == plain
    (tmp_path / "before.py").write_bytes(b"x = 2\n")
    assert hash_of_fixture(tmp_path) != plain


def test_fresh_evidence_is_no_problem(tmp_path: Path) -> None:
    """Right after recording there are no problems; for a rule without evidence, its absence is one."""
    record(session(FASTER), tmp_path)
    assert check([RL101], tmp_path) == []
    [problem] = check([RL101, catalogue.find("RL305")], tmp_path)
    assert problem == (
        "RL305 cloned-state-dict: no evidence is recorded for cpu "
        "(`rlint verify RL305 --device cpu --record` measures it)"
    )


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("harness", "rlint has measured otherwise since"),
        ("fixture", "its fixture has changed since"),
        ("fix", "its fix now gives another text"),
    ],
)
def test_stale_evidence_says_what_has_changed(key: str, said: str, tmp_path: Path) -> None:
    """Figures of an older fixture, fix or measuring method are stale."""
    [path] = record(session(FASTER), tmp_path)
    data = json.loads(path.read_text())
    data["hashes"][key] = "0123456789abcdef"
    path.write_text(json.dumps(data))
    [problem] = check([RL101], tmp_path)
    assert problem == (
        f"RL101 concat-grown-buffer: the evidence for cpu is stale: {said} "
        "(`rlint verify RL101 --device cpu --record` measures it)"
    )


def test_the_key_is_what_the_fixer_makes_of_the_program() -> None:
    """The texts with safe fixes and with all make the key; the code of the rule does not matter."""
    with fixtures_of([RL101]) as (one,):
        plain = hashes_of(one)
        assert hashes_of(one) == plain
        text = one.subject.texts[AFTER][one.subject.main]
        for arm in (SAFE, AFTER):
            texts = {**one.subject.texts, arm: {one.subject.main: text + "\n"}}
            other = hashes_of(replace(one, subject=replace(one.subject, texts=texts)))
            assert other.changes(fixture=plain.fixture, fix=plain.fix) == ["its fix now gives another text"]


def test_other_devices_are_wanted_once_any_rule_has_them(tmp_path: Path) -> None:
    """RL201 claims something on cuda, RL101 does not: only the former needs evidence about a GPU."""
    rules = [RL101, catalogue.find("RL201")]
    cpu = [
        FASTER,
        outcome("RL201", cost("time", 0.1, 0.1, Verdict.NO_CHANGE), verdict=Verdict.NO_CHANGE, claims=()),
    ]
    record(session(*cpu), tmp_path)
    assert check(rules, tmp_path) == []
    record(session(outcome("RL305", cost("time", 0.2, 0.1), device="cuda")), tmp_path)
    [problem] = check(rules, tmp_path)
    assert problem.startswith("RL201 blocking-transfer: no evidence is recorded for cuda")


def test_a_fix_that_changes_behaviour_is_a_problem(tmp_path: Path) -> None:
    """It may be recorded, but is reported as a problem."""
    record(session(DIFFERENT), tmp_path)
    [problem] = check([RL101], tmp_path)
    assert "changes the behaviour of replay-buffer on cpu" in problem


def test_what_a_workload_declares_is_read_from_its_text(tmp_path: Path) -> None:
    """Without importing torch: defaults, base classes in the file, claims for one device."""
    path = tmp_path / "workload.py"
    path.write_text(
        "import torch_is_not_here\n"
        "from rlint.harness import Workload\n"
        "class _Shared(Workload):\n"
        "    devices = ('cpu', 'cuda')\n"
        "class Sync(_Shared):\n"
        "    claims = ('sync:cuda',)\n"
        "class Model:\n"
        "    devices = ('mps',)\n"
    )
    assert devices_of(path) == Devices(frozenset({"cpu", "cuda"}), frozenset({"cuda"}))
    path.write_text("import rlint.harness\nclass Plain(rlint.harness.Workload):\n    sizes = (1,)\n")
    assert devices_of(path) == Devices(frozenset(Workload.devices), frozenset(Workload.devices))
    assert Workload.claims == ("time",)


def test_asking_for_evidence_loads_no_torch() -> None:
    """`rlint verify --check-evidence` runs no program, so that it works without torch and numpy."""
    script = (
        "import sys; from rlint.registry import catalogue; from rlint.harness.check_evidence import check\n"
        "check([catalogue.find('RL305')]); print(sorted({'torch', 'numpy', 'psutil'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"
