"""Branches that training does not take: ruled out by constants and calls, or taken at random only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlint.cli import cli

AGENT = """\
import numpy as np
import torch
from torch.distributions import Normal

KIND


class Agent:
    def __init__(self, net, discrete=False, warmup=0):
        self.net = net
        self.discrete = discrete
        self.warmup = warmup
        SETUP

    def prepare(self):
        self.part = make()

    def act(self, state, noise=None, greedy=True):
        EXIT
        if TEST:
            return OTHER
        return Normal(self.net(state), 1.0).sample()

    def check(self, state):
        return Normal(self.net(state), 1.0).sample()


def train(env, agent: Agent, optimizer):
    state = env.reset()
    while True:
        CALL
        state = env.step(action)
        agent.net(state).sum().backward()
        optimizer.step()


train(make(), Agent(torch.nn.Linear(4, 2)ARGUMENTS), make())
"""
CALL = "action = agent.act(state)"


def basis(tmp_path: Path, **parts: str) -> str:
    """Return the basis of the impact of the finding in `act`."""
    text = AGENT
    given = {
        "KIND": "",
        "EXIT": "pass",
        "TEST": "state is env",
        "OTHER": "0",
        "CALL": CALL,
        "ARGUMENTS": "",
        "SETUP": "",
    }
    for name, part in {**given, **parts}.items():
        text = text.replace(name, part)
    (tmp_path / "train.py").write_text(text)
    options = ["--isolated", "--no-cache", "--select", "RL321", "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(tmp_path)])
    line = text[: text.index("return Normal")].count("\n") + 1
    (found,) = [each for each in json.loads(ran.output) if each["location"]["row"] == line]
    assert isinstance(found["impact"]["basis"], str)
    return found["impact"]["basis"]


@pytest.mark.parametrize(
    ("parts", "test"),
    [
        ({"TEST": "noise is None"}, "`noise is None` is always true"),
        ({"TEST": "greedy"}, "`greedy` is always true"),
        ({"TEST": "not self.discrete"}, "`not self.discrete` is always true"),
        ({"TEST": "self.warmup == 0"}, "`self.warmup == 0` is always true"),
        ({"EXIT": "if not self.discrete: return 0"}, "`not self.discrete` is always true"),
        ({"KIND": "RANDOM = True", "TEST": "RANDOM"}, "`RANDOM` is always true"),
        ({"KIND": "MODE = 'fast'", "TEST": "MODE != 'slow'"}, "`MODE != 'slow'` is always true"),
        ({"TEST": "greedy or len(state)"}, "`greedy or len(state)` is always true"),
        ({"TEST": "greedy", "CALL": "action = agent.act(state, None, True)"}, "`greedy` is always true"),
        ({"TEST": "self.discrete", "ARGUMENTS": ", discrete=True"}, "`self.discrete` is always true"),
        (
            {"KIND": "DISCRETE = True", "TEST": "self.discrete", "ARGUMENTS": ", DISCRETE"},
            "`self.discrete` is always true",
        ),
        (
            {"KIND": "ON = False", "CALL": f"if ON:\n            {CALL}\n        action = 1"},
            "`ON` is always false",
        ),
    ],
)
def test_what_the_project_rules_out_has_a_low_impact(
    parts: dict[str, str], test: str, tmp_path: Path
) -> None:
    """By constants, by defaults that no call replaces, and by what all calls pass."""
    assert basis(tmp_path, **parts) == f"it does not run: {test} in this project"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"TEST": "greedy", "CALL": "action = agent.act(state, None, state is env)"},
        {"TEST": "greedy", "CALL": "action = agent.act(state, None, False)"},
        {"TEST": "greedy", "CALL": "action = agent.act(state, *options)"},
        {"TEST": "greedy", "CALL": "action = agent.act(state, **options)"},
        {"TEST": "greedy and len(state)"},
        {"TEST": "self.discrete"},
        {"TEST": "self.discrete", "ARGUMENTS": ", discrete=make()"},
        {"TEST": "not self.discrete", "CALL": f"agent.discrete = True\n        {CALL}"},
        {"SETUP": "self.part = None\n        self.prepare()", "TEST": "self.part is None"},
        {"KIND": "RANDOM = True\nRANDOM = make()", "TEST": "RANDOM"},
        {"KIND": "RANDOM = make()", "TEST": "RANDOM"},
        {"EXIT": "greedy = make()", "TEST": "greedy"},
        {"TEST": "greedy", "CALL": f"make().act(state, greedy=False)\n        {CALL}"},
    ],
)
def test_what_may_run_keeps_its_impact(parts: dict[str, str], tmp_path: Path) -> None:
    """Where another value is passed, or may be, or another outcome of the test is taken."""
    assert "does not run" not in basis(tmp_path, **parts)


@pytest.mark.parametrize(
    ("test", "explores"),
    [
        ("np.random.rand() > epsilon", True),
        ("not np.random.uniform() < self.eps", True),
        ("np.random.rand() >= self.exploration.rate", True),
        ("np.random.rand() < epsilon", False),
        ("np.random.rand() > keep", False),
        ("len(state) > epsilon", False),
    ],
)
def test_what_only_explores_has_a_low_impact(test: str, explores: bool, tmp_path: Path) -> None:
    """The branch with the probability that decays, and not the other one."""
    found = basis(tmp_path, TEST=test, KIND="epsilon = keep = make()")
    assert (found == "it runs only when the agent explores at random") == explores


def test_a_draw_made_before(tmp_path: Path) -> None:
    """The random number has a name."""
    parts = {"EXIT": "sample = np.random.rand()", "TEST": "sample > self.eps_end"}
    assert "explores at random" in basis(tmp_path, **parts)


WRITER = """\
import torch
from torch.distributions import Normal


class NAME:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def train(self, states, writer=None):
        for state in states:
            loss = self.net(state).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if writer is not None:
                writer.add(Normal(self.net(state), 1.0).sample())
"""


@pytest.mark.parametrize(
    ("start", "given", "found"),
    [
        ("import torch", "writer=writer", "`writer is not None` is always false"),
        ("import torch", "writer", "`writer is not None` is always false"),
        ("import torch", "None", "`writer is not None` is always false"),
        ("import torch", "writer=make()", ""),
        ("writer = make()", "writer=writer", ""),
    ],
)
@pytest.mark.parametrize("used", ["Agent", "Other"])
def test_a_writer_that_is_none_in_all_calls(
    start: str, given: str, found: str, used: str, tmp_path: Path
) -> None:
    """In a variable of another file, also where each script trains another agent."""
    (tmp_path / "agent.py").write_text(WRITER.replace("NAME", "Agent"))
    (tmp_path / "other.py").write_text(WRITER.replace("NAME", "Other"))
    (tmp_path / "train.py").write_text(
        f"from agent import Agent\nfrom other import Other\nwriter = None\n{start}\n"
        f"first, agent = Agent(make(), make()), {used}(make(), make())\n"
        f"while True:\n    agent.train(make(), {given})\n    log(first.train)\n"
    )
    options = ["--isolated", "--no-cache", "--select", "RL321", "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(tmp_path)])
    bases = {Path(each["filename"]).name: each["impact"]["basis"] for each in json.loads(ran.output)}
    assert ("does not run" in bases["agent.py"]) == bool(found)
    assert found in bases["agent.py"]
