"""`target-version`, `torch-version`, `numpy-version`: fixes do not use functions that the project's versions
lack.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fixture_folders import FIXTURES

TRAIN = """\
import torch
from torch import nn


def learn(env, batches) -> None:
    net = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for batch in batches:
        env.step(env.action_space.sample())
        loss = net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SAMPLE = """\
import numpy as np


class Memory:
    def __init__(self, size):
        self.rows = [0.0] * size

    def sample(self, count):
        index = np.random.choice(len(self.rows), count, replace=False)
        return [self.rows[i] for i in index]


def learn(env, memory: Memory) -> None:
    while True:
        env.step(env.action_space.sample())
        memory.sample(32)
"""
EXTRACT = """\
import re

TAG = re.compile(r"<answer>(.*?)</answer>")


def extract_answer(text):
    match = TAG.search(text)
    return match.group(1) if match else None


def answer_rewards(responses):
    return [extract_answer(r) for r in responses if extract_answer(r)]
"""
ACT = """\
import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

net = nn.Linear(4, 2)
env = gym.make("CartPole-v1")
obs, _ = env.reset()
while True:
    action = Categorical(logits=net(torch.as_tensor(obs))).sample()
    obs, reward, done, _, _ = env.step(action.item())
"""
POLICY = (FIXTURES / "uncompiled-policy" / "before.py").read_text()
PYPROJECT = """\
[project]
name = "agents"
version = "1"
requires-python = ">=3.8"
dependencies = ["gymnasium>=0.29", "torch[opt]>=1.13,<3", "numpy>=1.16; python_version < '3.12'"]
"""

Run = Callable[..., Result]
Check = Callable[..., dict[str, Any]]


@pytest.fixture
def check(run: Run, tmp_path: Path) -> Check:
    """Check a program as `rlint check` does, and return the only finding of a rule."""

    def found(program: str, code: str, *options: str) -> dict[str, Any]:
        (tmp_path / "rlint.toml").unlink(missing_ok=True)
        (tmp_path / "train.py").write_text(program)
        command = ("check", "--no-cache", "--exit-zero", "--output-format", "json", "--select", code)
        done = run(*command, *options, "train.py")
        assert done.exit_code == 0, done.output
        [finding] = json.loads(done.stdout)
        return dict(finding)

    return found


def test_no_fix_is_withheld_where_nothing_is_stated(check: Check) -> None:
    """Without stated versions, current ones are assumed."""
    assert check(TRAIN, "RL319")["fix"] is not None


def test_the_versions_of_a_project_withhold_fixes(check: Check, run: Run, tmp_path: Path) -> None:
    """`fused=` needs torch 2.0 and `default_rng` numpy 1.17; the findings stay and say so."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    fused = check(TRAIN, "RL319")
    assert fused["fix"] is None
    text = run("check", "--no-cache", "--no-fold", "--select", "RL319", "train.py").stdout
    assert "`fused=` needs torch 2.0, but `torch-version` is 1.13 (pyproject.toml)" in text
    assert check(SAMPLE, "RL111")["fix"] is None
    assert check(SAMPLE, "RL111", "--numpy-version", "1.26")["fix"] is not None


def test_options_override_the_project(check: Check, tmp_path: Path) -> None:
    """First the command line, then `tool.rlint`, then the dependencies."""
    (tmp_path / "pyproject.toml").write_text(f'{PYPROJECT}\n[tool.rlint]\ntorch-version = "2.4"\n')
    assert check(TRAIN, "RL319")["fix"] is not None
    assert check(TRAIN, "RL319", "--torch-version", "1.8")["fix"] is None
    assert check(TRAIN, "RL319", "--isolated")["fix"] is not None


def test_fix_leaves_what_is_withheld(run: Run, tmp_path: Path) -> None:
    """`rlint fix` changes nothing that the stated version cannot run."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "rlint.toml").unlink()
    (tmp_path / "train.py").write_text(TRAIN)
    run("fix", "--unsafe-fixes", "--allow-dirty", "--select", "RL319", "train.py")
    assert (tmp_path / "train.py").read_text() == TRAIN


def test_advice_names_the_version_that_it_needs(run: Run, tmp_path: Path) -> None:
    """A finding with advice only says so, too: `torch.compile` came with torch 2.0."""
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\nsetup(install_requires=['torch>=1.13'])\n"
    )
    (tmp_path / "rlint.toml").unlink()
    (tmp_path / "train.py").write_text(POLICY)
    text = run("check", "--no-cache", "--no-fold", "--select", "RL309", "train.py").stdout
    assert "`torch.compile` needs torch 2.0, but `torch-version` is 1.13 (setup.py)" in text


@pytest.mark.parametrize(
    ("torch", "is_checked"),
    [("==1.5.0", False), ("==1.5.0+cu101", False), (">=1.5", True), ("==1.8.1", True), ("", True)],
)
def test_what_an_older_version_does_not_do_costs_nothing(
    torch: str, is_checked: bool, check: Check, tmp_path: Path
) -> None:
    """Distributions validate their arguments by default since torch 1.8."""
    (tmp_path / "requirements.txt").write_text(f"torch{torch}\n")
    finding = check(ACT, "RL321")
    assert (finding["impact"]["level"] == "medium") == is_checked
    assert ("since torch 1.8, and requirements.txt states 1.5" in finding["impact"]["basis"]) != is_checked


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.8"\ntorch = "^1.13"\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = { version = "~1.13.1", source = "cpu" }\n'),
        ("pyproject.toml", '[project]\noptional-dependencies = { train = ["torch>=1.13"] }\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    gym\n    torch>=1.13\n"),
        (
            "setup.py",
            "import setuptools\nNEEDS = ['torch (>=1.13)']\nsetuptools.setup(install_requires=NEEDS)\n",
        ),
        ("requirements.txt", "gym==0.21  # old\ntorch==1.13.1+cu117\n"),
    ],
)
def test_project_files_state_versions(check: Check, tmp_path: Path, name: str, text: str) -> None:
    """Whatever tool a project is built with."""
    (tmp_path / name).write_text(text)
    assert check(TRAIN, "RL319")["fix"] is None


@pytest.mark.parametrize(
    "text", ["torch\n", "torch<2\n", "torch!=1.13\n", "pytorch-lightning>=1.0\n", "-r a.txt\n"]
)
def test_what_states_no_lower_bound_withholds_nothing(check: Check, tmp_path: Path, text: str) -> None:
    """An upper bound does not determine the oldest version."""
    (tmp_path / "requirements.txt").write_text(text)
    assert check(TRAIN, "RL319")["fix"] is not None


def test_config_shows_versions_and_their_origins(run: Run, tmp_path: Path) -> None:
    """The reason for a withheld fix is shown."""
    (tmp_path / "rlint.toml").write_text('target-version = "py39"\n')
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    lines = run("config").stdout.splitlines()
    assert 'target-version = "py39"  # rlint.toml' in lines
    assert 'torch-version = "1.13"  # pyproject.toml' in lines


def test_syntax_is_held_to_the_target_version(check: Check) -> None:
    """`:=` came with Python 3.8."""
    assert ":=" in json.dumps(check(EXTRACT, "RL501")["fix"])
    assert ":=" not in json.dumps(check(EXTRACT, "RL501", "--target-version", "py37")["fix"])


@pytest.mark.parametrize("version", ["", "latest", ">=1.13", "2.x"])
def test_what_is_no_version_is_an_error(run: Run, version: str) -> None:
    """A typing error must not withhold fixes, or fail to."""
    done = run("check", "--torch-version", version, "clean.py")
    assert done.exit_code == 2
    assert 'must be a version such as "3.10" or "2.1.0"' in done.output
