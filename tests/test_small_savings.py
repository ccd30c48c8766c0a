"""Findings that save little: what runs once for many steps, and data that does not stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_impact import findings_in

REPORTED = """\
import torch
from torch import nn


class Runner:
    def __init__(self, env, writer, device):
        self.env, self.writer, self.device = env, writer, device
        self.net = nn.Linear(4, 2).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def run(self, iterations, plays):
        obs = self.env.reset()
        if plays:
            self.play(obs)
        else:
            for it in range(iterations):
                infos = []
                for _ in range(2048):
                    obs, reward, done, info = self.env.step(self.net(obs))
                    infos.append(info)
                    IN_STEP
                for _ in range(10):
                    loss = self.net(obs).mean()
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                AFTER_STEPS

    def log(self, found):
        for key in found["infos"][0]:
            values = torch.tensor([], device=self.device)
            for info in found["infos"]:
                values = torch.cat((values, info[key].to(self.device)))
            value = torch.mean(values)
            self.writer.add_scalar("episode/" + key, value, found["it"])
            print(f"{key}: {value:.4f}")


Runner(make(), make(), "cuda").run(1000, False)
"""


@pytest.mark.parametrize(
    ("in_step", "after_steps", "level"),
    [("pass", "self.log(locals())", "low"), ("self.log(locals())", "pass", "unknown")],
)
def test_reads_once_for_many_steps_cost_little(
    in_step: str, after_steps: str, level: str, tmp_path: Path
) -> None:
    """A report after each rollout and its updates, which a condition outside of the loop governs as well."""
    text = REPORTED.replace("IN_STEP", in_step).replace("AFTER_STEPS", after_steps)
    (tmp_path / "run.py").write_text(text)
    (found,) = findings_in(tmp_path, "RL202")
    assert found["impact"]["level"] == level


PICKED = """\
import numpy as np
import torch
from torch import nn


class Memory:
    def __init__(self, net):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters())
        self.NAME_buffer = []

    def push(self, NAME):
        self.NAME_buffer.append(NAME)

    def sample(self, size):
        order = np.random.choice(len(self.NAME_buffer), size)
        picked = []
        for index in order:
            NAME = self.NAME_buffer[index]
            READ
            picked.append(NAME)
        return picked

    def train(self):
        while True:
            loss = sum(self.net(each.obs).mean() for each in self.sample(64))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "read", "level"),
    [
        ("segment", "segment.times_used += 1", "low"),
        ("segment", "part = segment.obs[:8]", "medium"),
        ("transition", "pass", "medium"),
    ],
)
def test_whole_episodes_that_are_picked_gain_little(name: str, read: str, level: str, tmp_path: Path) -> None:
    """Their fields are not stacked to arrays, which indexing would replace."""
    (tmp_path / "run.py").write_text(PICKED.replace("NAME", name).replace("READ", read))
    (found,) = findings_in(tmp_path, "RL102")
    assert found["impact"]["level"] == level


ALLOCATED = """\
import numpy as np
import torch
from torch import nn


class Learner:
    def __init__(self, net, capacity):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters())
        self.codes = np.zeros((capacity, 10))

    def codes_of(self, labels):
        WHERE[np.arange(len(labels)), labels] = 1.0
        return torch.Tensor(USED)

    def train(self, batches):
        for labels in batches:
            loss = self.net(self.codes_of(labels)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize(
    ("where", "used", "level"),
    [
        ("codes = np.zeros((len(labels), 10))\n        codes", "codes", "low"),
        ("self.codes", "self.codes[labels]", "medium"),
    ],
)
def test_arrays_of_one_step_take_little_memory(where: str, used: str, level: str, tmp_path: Path) -> None:
    """A one-hot code of a batch is gone when the function returns."""
    (tmp_path / "run.py").write_text(ALLOCATED.replace("WHERE", where).replace("USED", used))
    found = findings_in(tmp_path, "RL109")
    assert level in {each["impact"]["level"] for each in found}


PLAYED = """\
import gym
from torch import nn, optim
from torch.distributions import Normal

net = nn.Linear(4, 2)
optimizer = optim.Adam(net.parameters())


def main(env, learns):
    if learns:
        while True:
            obs, reward, done, info = env.step(Normal(net(env.obs), 1.0).sample())
            net(obs).mean().backward()
            optimizer.step()
    obs = env.reset()
    while True:
        env.render()
        obs, reward, done, info = env.step(Normal(net(obs), 1.0).sample())


CALLED
"""


@pytest.mark.parametrize(
    ("called", "is_demonstration"),
    [
        ('if __name__ == "__main__":\n    main(gym.make("CartPole-v1"), False)', True),
        ('for game in range(9):\n    main(gym.make("CartPole-v1"), True)', False),
    ],
)
def test_a_script_that_renders_in_its_main_function(
    called: str, is_demonstration: bool, tmp_path: Path
) -> None:
    """Its loop without gradient steps is a demonstration, beside the one that learns."""
    (tmp_path / "run.py").write_text(PLAYED.replace("CALLED", called))
    found = findings_in(tmp_path, "RL321")
    reasons = [each["impact"]["basis"] for each in found if each["location"]["row"] > 17]
    assert [("evaluations" in reason) for reason in reasons] == [is_demonstration]
