"""Evidence in the output of `rlint rules`, `rlint rule` and `rlint check`, in a copy of rlint that has
some.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_sessions import FASTER, NO_CHANGE, checkout, cost, outcome
from rlint.evidence.results import Verdict

pytestmark = pytest.mark.xdist_group("evidence")  # one worker creates the copy

NOTHING = outcome("RL305", cost("time", 0.01, 0.01, Verdict.NO_CHANGE), verdict=Verdict.NO_CHANGE)
PROGRAM = """\
import numpy as np
import torch


def collect(env, steps):
    rewards = np.empty(0)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(0)
        rewards = np.append(rewards, reward)
    return rewards


def train(target, network, steps):
    for _ in range(steps):
        target.load_state_dict({k: v.clone() for k, v in network.state_dict().items()})
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with evidence only for RL101 (a gain) and RL305 (no gain)."""
    folder = checkout(tmp_path_factory.mktemp("copy"), [FASTER, NOTHING])
    (folder / "train.py").write_text(PROGRAM)
    return folder


def rlint(copy: Path, *arguments: str, status: int = 0) -> str:
    """Run the copy, and return its output."""
    command = [sys.executable, "-m", "rlint", *arguments]
    environment = {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def test_findings_say_what_their_fix_gains(copy: Path) -> None:
    """The gain is shown in the default report and in JSON; other formats do not contain it."""
    check = ("check", "--isolated", "train.py")
    assert "\nmeasured: 5.0× as fast on cpu (1 workload)\nfix: " in rlint(copy, *check, status=1)
    [found] = json.loads(rlint(copy, *check, "--output-format", "json", status=1))
    assert found["measured"] == "5.0× as fast on cpu (1 workload)"
    for format_ in ("concise", "github"):
        assert "workload" not in rlint(copy, *check, "--output-format", format_, status=1)


def test_a_rule_without_gain_is_off_unless_selected(copy: Path) -> None:
    """A rule without a measured gain is opt-in, and its findings say so."""
    check = ("check", "--isolated", "train.py")
    assert "RL305" not in rlint(copy, *check, status=1)
    assert "RL305" not in rlint(copy, *check, "--select", "RL3")
    queried = rlint(copy, *check, "--select", "RL305", status=1)
    assert "\nmeasured: no gain on cpu (time 1.00×, 1 workload)\n" in queried


def test_the_table_of_rules_has_the_gain(copy: Path) -> None:
    """A column for people; for programs the verdict and the line."""
    rows = {row.split()[0]: row for row in rlint(copy, "rules").splitlines()}
    assert "  on       5.0× as fast  " in rows["RL101"]
    assert "  opt-in   no gain  " in rows["RL305"]
    assert "  on       –  " in rows["RL401"]
    data = {one["code"]: one for one in json.loads(rlint(copy, "rules", "--output-format", "json"))}
    assert (data["RL101"]["gain"], data["RL101"]["opt_in"]) == ("gains", False)
    assert (data["RL305"]["gain"], data["RL305"]["opt_in"]) == ("no gain", True)
    assert (data["RL401"]["gain"], data["RL401"]["measured"]) == ("not measured", "not yet")
    assert (data["RL900"]["gain"], data["RL900"]["measured"]) == ("not measured", None)


def test_a_page_shows_what_was_measured(copy: Path) -> None:
    """The section precedes the references: figures, intervals, the date and the machine."""
    page = rlint(copy, "rule", "RL101")
    headings = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert headings == [
        "What it does", "Why is it slow", "Example", "Fix safety", "Measured", "References"
    ]  # fmt: skip
    assert (
        "| cpu | What replay-buffer does | 1,000 rows | time | 10.0 → 2.00 ms | 5.0× (4.7–5.3) | – |" in page
    )
    assert re.search(r"- cpu: 2026-03-01, behaviour compared in \d+ cases; a processor, 2 cores, ", page)
    assert "the rule is off unless selected" in rlint(copy, "rule", "RL305")
    assert "## Measured\nNot yet on cuda, where the cost arises.\n" in rlint(copy, "rule", "RL201")
    assert "## Measured" not in rlint(copy, "rule", "RL900")


def test_a_page_as_data_has_all_that_was_measured(copy: Path) -> None:
    """The JSON output has the recorded measurements."""
    [device] = json.loads(rlint(copy, "rule", "RL101", "--output-format", "json"))["evidence"]["devices"]
    assert (device["device"], device["gain"], device["stale"]) == ("cpu", "gains", [])
    assert device["outcomes"][0]["measurements"][0]["ratio"]["value"] == 5.0
    assert json.loads(rlint(copy, "rule", "RL900", "--output-format", "json"))["evidence"] is None


def test_stale_and_broken_evidence_shows(tmp_path: Path) -> None:
    """A page says if its figures are stale; a broken file is named, and linting continues."""
    copy = checkout(tmp_path / "copy", [FASTER, NO_CHANGE])
    (copy / "train.py").write_text(PROGRAM)
    program = copy / "fixtures" / "concat-grown-buffer" / "before.py"
    program.write_text(program.read_text() + "\nNEW = 1\n")
    assert "\nStale on cpu: its fixture has changed since.\n" in rlint(copy, "rule", "RL101")
    evidence = copy / "fixtures" / "concat-grown-buffer" / "evidence" / "cpu.json"
    evidence.write_text("{")
    assert f"\n{evidence}: cannot be read (" in rlint(copy, "rule", "RL101")
    assert "measured: unknown, since the evidence cannot be read" in rlint(
        copy, "check", "--isolated", "train.py", status=1
    )
