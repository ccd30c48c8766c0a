"""Findings that one change mends: the first has the impact and names the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from test_impact import findings_in

READS = """\
import torch
from torch import nn


class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.net = nn.Linear(4, 2).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def train(self):
        for batch in self.loader:
            values = self.net(batch.cuda())
            if len(batch) > 1:
                for value in values:
                    yield value.max().item()
            loss = values.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            yield values.min().item(), values.max().item(), values.std().item(), values.norm().item()
            yield loss.item(), values.sum().item()
"""
POLICY = """\
import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


class Policy:
    def __init__(self):
        self.net = nn.Linear(4, 2)

    def act(self, observation):
        return Categorical(logits=self.net(observation)).sample()


def train():
    env, policy = gym.make("CartPole-v1"), Policy()
    observation, _ = env.reset()
    for _ in range(100_000):
        action = policy.act(torch.as_tensor(observation))
        observation, reward, done, truncated, _ = env.step(action.item())


train()
"""
BUFFER = """\
import random
from collections import deque

import numpy as np


class Buffer:
    def __init__(self):
        self.rows = deque(maxlen=100_000)

    def add(self, state, action, reward, next_state, done):
        self.rows.append((state, action, reward, next_state, done))

    def sample(self, size):
        batch = random.sample(self.rows, size)
        states, actions, rewards, next_states, dones = zip(*batch)
        return np.array(states), np.array(actions), np.array(rewards), np.array(next_states), np.array(dones)
"""


def levels(found: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """Return the line and the impact of each finding."""
    return [(each["location"]["row"], each["impact"]["level"]) for each in found]


def test_further_reads_of_a_function_count_with_the_first(tmp_path: Path) -> None:
    """They remain findings, of low impact, and the first names their places."""
    (tmp_path / "train.py").write_text(READS)
    first, *others = findings_in(tmp_path, "RL202")
    assert first["impact"]["level"] == "unknown"
    assert {level for _, level in levels(others)} == {"low"}
    assert others
    assert all("usually mends it as well" in each["impact"]["basis"] for each in others)
    named = {place["location"]["row"] for place in first["related"]}
    assert {line for line, _ in levels(others)} <= named


def test_one_default_mends_all_files(tmp_path: Path) -> None:
    """Distributions of the whole project: one has the impact."""
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(POLICY)
    found = findings_in(tmp_path, "RL321")
    assert [level for _, level in levels(found)] == ["medium", "low"]
    assert "one.py" in found[1]["impact"]["basis"]


def test_a_file_that_trains_comes_before_a_demonstration(tmp_path: Path) -> None:
    """The impact stays with the file that trains, whatever the order of the names."""
    for name in ("a_demo.py", "train.py"):
        (tmp_path / name).write_text(POLICY)
    found = findings_in(tmp_path, "RL321")
    by_file = {Path(each["filename"]).name: each["impact"]["level"] for each in found}
    assert by_file == {"a_demo.py": "low", "train.py": "medium"}


def test_the_change_of_a_buffer_mends_its_sampling(tmp_path: Path) -> None:
    """A batch taken apart is not counted again if the buffer that stores objects is reported."""
    (tmp_path / "buffer.py").write_text(BUFFER)
    stored = findings_in(tmp_path, "RL104")
    assert [level for _, level in levels(stored)] == ["medium"]
    alone = findings_in(tmp_path, "RL102")
    assert [level for _, level in levels(alone)] == ["medium"]
    sampled = [each for each in findings_in(tmp_path, "RL102,RL104") if each["code"] == "RL102"]
    assert [level for _, level in levels(sampled)] == ["low"]
    assert "RL104 advises for line 12" in sampled[0]["impact"]["basis"]
