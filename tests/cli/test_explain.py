"""`rlint explain`: what each rule knows about a line, and why it reports nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from notebook_files import notebook

Run = Callable[..., Result]

AGENT = """\
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, states):
        return self.layer(states)


class Rater:
    def __init__(self, device):
        self.critic = Critic()
        self.device = device

    def rate(self, row):
        value = self.critic(row)
        return value.item()


def train(env, rater: Rater):
    while True:
        state = env.step(0)
        value = rater.critic(state)
        print(value.item())
        if len(state) > 1_000_000:
            break
"""
RATE = AGENT[: AGENT.index("value = self.critic")].count("\n") + 1
HOT = AGENT[: AGENT.index("value = rater.critic")].count("\n") + 1


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a program with settings, and changes to its folder."""

    def build(text: str = AGENT, settings: str = "", name: str = "agent.py") -> Path:
        (tmp_path / "rlint.toml").write_text(settings)
        (tmp_path / name).write_text(text)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return build


def explained(run: Run, *arguments: str) -> dict[str, Any]:
    """The output of `rlint explain` for one place, as data."""
    result = run("explain", *arguments, "--output-format", "json")
    assert result.exit_code == 0, result.output
    [described] = json.loads(result.output)
    assert isinstance(described, dict)
    return described


def rule(described: dict[str, Any], code: str) -> dict[str, Any]:
    """The explanation of one rule."""
    [found] = [each for each in described["rules"] if each["code"] == code]
    assert isinstance(found, dict)
    return found


def test_a_cold_line(run: Run, program: Callable[..., Path]) -> None:
    """For a silent rule, the reason and a change that would make it report are given; the change is tested,
    not guessed.
    """
    program()
    described = explained(run, f"agent.py:{RATE}")
    assert described["heat"] == "cold"
    assert described["frequency"][0].startswith("cold: no caller of `Rater.rate` is known")
    assert described["types"]["self.critic".join("``")] == "a network (`agent.Critic`)"
    found = rule(described, "RL301")
    assert (found["verdict"], found["subject"], found["near"]) == ("silent", "`self.critic(row)`", True)
    assert any("runs less than once per step" in reason for reason in found["reasons"])
    assert found["reasons"][0].startswith("cold: ")
    assert found["changes"] == [
        '`hot = ["agent.Rater.rate"]` in the configuration, or `# rlint: hot` at its `def`'
    ]
    assert "builds an autograd graph" in found["message"]
    assert described["rules"][0] == found
    program(settings='hot = ["agent.Rater.rate"]')
    assert run("check", "--select", "RL301").exit_code == 1


def test_the_report_for_people(run: Run, program: Callable[..., Path]) -> None:
    """Rules that were close to a finding come first; the others are only counted."""
    program()
    shown = run("explain", f"agent.py:{RATE}").output
    assert shown.startswith(
        f"agent.py:{RATE}  value = self.critic(row)\nruns: cold: no caller of `Rater.rate`"
    )
    assert "RL301 inference-with-grad: silent at `self.critic(row)`\n  because the line is cold" in shown
    assert "more rules look at this line (`--all` shows them): " in shown
    assert len(shown.splitlines()) < 50
    everything = run("explain", f"agent.py:{RATE}", "--all").output
    assert "--all" not in everything
    assert len(everything) > len(shown)
    one = run("explain", f"agent.py:{RATE}", "--select", "RL301").output
    assert one.count("RL") == 1


def test_what_is_reported(run: Run, program: Callable[..., Path]) -> None:
    """A finding is shown with the chain that makes the line hot."""
    program()
    described = explained(run, f"agent.py:{HOT}")
    assert described["frequency"][0] == f"hot, each step: agent.py:{HOT - 2} while True"
    assert rule(described, "RL301")["verdict"] == "reported"
    assert rule(described, "RL301")["changes"] == []


SCALAR = """\
import numpy as np
import torch


def train(env, decay: float):
    for step in range(100_000):
        env.step(np.exp(-step / decay))
"""


def test_likely_findings_and_impact(run: Run, program: Callable[..., Path]) -> None:
    """A line is explained with what `check` reports of it, likely findings and their impact included."""
    program(SCALAR)
    found = rule(explained(run, "agent.py:7"), "RL508")
    assert found["verdict"] == "reported"
    assert found["impact"].startswith("low: ")
    assert "--min-impact low" in found["impact"]
    kept = "self.critic = Critic()"
    program(AGENT.replace(kept, f"{kept} if device is None else device.critic()"))
    options = ("--select", "RL301", "--output-format", "json", "--min-impact", "low")
    [finding] = json.loads(run("check", *options).output)
    assert (finding["location"]["row"], finding["confidence"]) == (HOT, "likely")
    found = rule(explained(run, f"agent.py:{HOT}"), "RL301")
    assert found["verdict"] == "reported"
    assert found["impact"].startswith(f"{finding['impact']['level']}: {finding['impact']['basis']}")
    assert f"  impact: {finding['impact']['level']}: " in run("explain", f"agent.py:{HOT}").output


@pytest.mark.parametrize(
    ("settings", "comment", "verdict", "why"),
    [
        ("", "  # noqa: RL301", "hidden", f"`# noqa: RL301` hides it (line {HOT})"),
        ('ignore = ["RL301"]', "", "not selected", "the settings do not select it"),
        ('per-file-ignores = {"agent.py" = ["RL301"]}', "", "not selected", "`per-file-ignores`"),
        ('select = ["RL1"]', "", "not selected", "the settings do not select it"),
    ],
)
def test_what_is_hidden(
    run: Run, program: Callable[..., Path], settings: str, comment: str, verdict: str, why: str
) -> None:
    """For a hidden finding, the reason is given."""
    line = "        value = rater.critic(state)"
    program(AGENT.replace(line, line + comment), settings)
    found = rule(explained(run, f"agent.py:{HOT}"), "RL301")
    assert found["verdict"] == verdict
    assert why in found["reasons"][0]


def test_baselines(run: Run, program: Callable[..., Path]) -> None:
    """For a finding in the baseline, the explanation says that it is hidden."""
    program()
    run("check", "--write-baseline")
    program(settings='baseline = "rlint-baseline.json"')
    found = rule(explained(run, f"agent.py:{HOT}"), "RL301")
    assert (found["verdict"], found["reasons"]) == (
        "hidden",
        ["it is listed in the baseline (rlint-baseline.json)"],
    )


def test_files_that_no_rule_looks_at(run: Run, program: Callable[..., Path]) -> None:
    """For a test, and for a program without machine learning, the explanation says so."""
    program(
        "import torch\n\n\ndef test_it():\n    for _ in range(9):\n        x = torch.zeros(3).item()\n",
        name="test_it.py",
    )
    assert "test" in explained(run, "test_it.py:6")["notes"][0]
    program("import os\n\nprint(os.getcwd())\n", name="plain.py")


def test_lines_that_no_rule_looks_at(run: Run, program: Callable[..., Path]) -> None:
    """For such a line, its kind is given."""
    program()
    assert explained(run, "agent.py:1")["notes"] == ["no rule examines an import like this"]
    assert explained(run, "agent.py:3")["notes"][0].startswith("no statement on this line")


def test_conditions(run: Run, program: Callable[..., Path]) -> None:
    """The conditions of a line are listed with their places."""
    guarded = AGENT.replace(
        "        print(value.item())", "        if env.steps % 500 == 0:\n            print(value.item())"
    )
    program(guarded)
    described = explained(run, f"agent.py:{HOT + 2}")
    assert any(
        f"`env.steps % 500 == 0` (line {HOT + 1}: in every Nth iteration)" in said
        for said in described["frequency"]
    )


def test_accelerators(run: Run, program: Callable[..., Path]) -> None:
    """If an accelerator would change the answer, that is said, unless one is declared."""
    text = """\
import torch


class Agent:
    def act(self, state, target):
        x = torch.zeros(3)
        return x.to(target.device)
"""
    program(text)
    described = run("explain", "agent.py:7", "--select", "RL2", "--all").output
    program(text, "accelerator = true")
    assert "accelerator = true" not in run("explain", "agent.py:7", "--select", "RL2", "--all").output
    assert "RL205" in described


def test_columns_and_several_places(run: Run, program: Callable[..., Path]) -> None:
    """A column restricts the answer to the code there; several places are explained one after the other."""
    program()
    there = explained(run, f"agent.py:{RATE}:18")
    assert rule(there, "RL301")["subject"] == "`self.critic(row)`"
    before = explained(run, f"agent.py:{RATE}:5")
    assert not any(each["code"] == "RL301" for each in before["rules"])
    shown = run("explain", f"agent.py:{RATE}", f"agent.py:{HOT}").output
    assert shown.index(f"agent.py:{RATE}") < shown.index(f"agent.py:{HOT}")


def test_knows_what_a_run_over_the_folder_knows(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is explained as in `rlint check .`: with its callers in other folders, even if no file marks the
    root of the project.
    """
    agents, package = tmp_path / "scripts", tmp_path / "lib" / "agents"
    agents.mkdir()
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rater.py").write_text(AGENT[: AGENT.index("def train")])
    caller = AGENT[AGENT.index("def train") :].replace("rater.critic(state)", "rater.rate(state)")
    (agents / "train.py").write_text(f"from agents.rater import Rater\n\n\n{caller}")
    monkeypatch.chdir(tmp_path)
    described = explained(run, f"lib/agents/rater.py:{RATE}")
    assert described["heat"] == "hot"


def test_notebooks(run: Run, program: Callable[..., Path]) -> None:
    """A line of a notebook is named by its cell."""
    folder = program()
    (folder / "book.ipynb").write_bytes(notebook(AGENT, "x = 1\n").content)
    described = explained(run, f"book.ipynb:cell 1:{RATE}")
    assert (described["cell"], described["line"], described["code"]) == (1, RATE, "value = self.critic(row)")
    assert rule(described, "RL301")["changes"] != []
    assert "write `book.ipynb:cell CELL:3`" in run("explain", "book.ipynb:3").output


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("agent.py", "is not a location"),
        ("agent.py:0", "is not a location"),
        ("agent.py:999", "line 999 does not exist"),
        ("nowhere.py:3", "no such file"),
        ("broken.py:1", "SyntaxError"),
    ],
)
def test_places_that_are_none(run: Run, program: Callable[..., Path], place: str, said: str) -> None:
    """A place that cannot be explained is a usage error."""
    folder = program()
    (folder / "broken.py").write_text("x = (\n")
    result = run("explain", place, "-n")
    assert said in result.output + str(result.exception)


EXPLAINED = ("create-then-move", "log-every-step", "duplicate-extract-call", "recomputed-constant")


@pytest.mark.parametrize(
    ("name", "step"),
    [(EXPLAINED[0], 12), *(pytest.param(name, 3, marks=pytest.mark.slow) for name in EXPLAINED)],
)
def test_no_rule_breaks(run: Run, tmp_path: Path, name: str, step: int) -> None:
    """Every rule works with the recording model, on lines of any fixture."""
    text = (Path(__file__).parents[2] / "fixtures" / name / "before.py").read_text()
    (tmp_path / "before.py").write_text(text)
    lines = range(1, text.count("\n"), step)
    ran = run("explain", *(f"before.py:{line}" for line in lines), "-n", "--isolated", "--all")
    assert ran.exit_code == 0
    assert "rlint failed" not in ran.output


COMPREHENSIONS = """\
import torch


def train(net, batches, device: torch.device):
    net.to(device)
    for batch in batches:
        rows = [
            row
            for row in batch
            if row > 0
        ]
        net(batch.to(device)).sum().backward()
"""


STORAGE = """\
import numpy as np
import torch


class Storage:
    def __init__(self, size, rows):
        self.rows = np.zeros((size, 4))
        self.last = np.zeros(size)

    def fill(self, data):
        self.rows = data

    def sample(self, index):
        return torch.FloatTensor(self.rows[index])


def train(storage: Storage, agent):
    for step in range(100_000):
        batch = storage.sample(step)
        agent.optimizer.step()
        print(max(step, 3), np.clip(3, 0, 5))
"""


@pytest.mark.parametrize("line", [7, 14, 21])
def test_reasons_are_about_the_program(run: Run, program: Callable[..., Path], line: int) -> None:
    """Each silent rule gives a reason, and none of them says how rules recognise code."""
    program(STORAGE)
    silent = [
        each for each in explained(run, f"agent.py:{line}", "--all")["rules"] if each["verdict"] == "silent"
    ]
    assert silent
    for each in silent:
        assert each["reasons"]
        for reason in each["reasons"]:
            assert "does not resolve" not in reason
            assert "`self`" not in reason
            assert not reason.endswith(": no")


SAVED = """\
import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, states):
        return self.layer(states)


class Agent:
    def __init__(self):
        self.online = Net()
        self.target = Net()
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, states):
        loss = self.online(states).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def save(self, folder):
        self.target.save(os.path.join(folder, 'target.pth'))


def train(agent, batches):
    for batch in batches:
        agent.learn(batch)
"""


def test_reasons_are_about_the_line(run: Run, program: Callable[..., Path]) -> None:
    """What a rule finds out about the line comes before what it finds out about the rest of the file."""
    program(SAVED)
    reasons = rule(explained(run, "agent.py:23", "--all"), "RL313")["reasons"]
    assert any("self.online" in reason for reason in reasons)
    assert not any("os.path" in reason for reason in reasons)


GROUP = """\
import torch
from torch import nn

first, second = nn.Linear(4, 1), nn.Linear(4, 1)


def act(env, state: torch.Tensor):
    while True:
        low = first(state)
        high = second(state)
        state = env.step(max(low.item(), high.item()))
"""


def test_lines_that_are_part_of_a_finding(run: Run, program: Callable[..., Path]) -> None:
    """A line is explained by the finding that it is part of."""
    program(GROUP)
    found = rule(explained(run, "agent.py:10"), "RL301")
    assert found["verdict"] == "reported"
    assert found["reasons"] == ["it is part of the finding in line 9: also builds a graph that is never used"]


def test_comprehensions(run: Run, program: Callable[..., Path]) -> None:
    """Rules that examine the loop of a comprehension are explained on each of its lines."""
    program(COMPREHENSIONS)
    for line in range(7, 12):
        found = rule(explained(run, f"agent.py:{line}", "--all"), "RL202")
        assert found["subject"] == "`row in batch if row > 0`"
