"""How many items values likely have."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, find, model_of

OPTIONS = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--batch-size", type=int, default=256)
DEFAULTS = {"replay_capacity": 50_000, "n_envs": 16}
"""
AGENT = """
import random
from options import DEFAULTS
from collections import deque
import numpy as np
import torch

class Agent:
    def __init__(self, cfg, args, window=5):
        self.cfg, self.args = cfg, args
        self.memory = deque(maxlen=10_000)
        self.held = np.zeros((128, 4))

    def learn(self, rows, n_agents, batch):
        drawn = random.sample(rows, self.args.batch_size)
        s, a = zip(*drawn)
        chosen = torch.randint(0, 9, (32,))
        kept = []
        for _ in range(3):
            for i in range(self.cfg["n_envs"]):
                kept.append(i)
        empty = []
        both = torch.stack([torch.tensor(x) for x in s])
        first = self.held[:20]
        picked = self.held[chosen]
        half = self.args.batch_size // 2
        obs, act = self.buffer.sample(half)
        for agent in range(n_agents):
            pass
        for start in range(0, 100, 10):
            pass
        print(kept, empty, both, first, picked, obs, a, rows, len(self.memory), self.held * 2, batch)
        print(self.cfg.replay_capacity, max(1, len(self.memory)), self.held.shape[0], [1, 2, *rows])
"""


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("a", 256),
        ("kept", 48),
        ("empty", None),
        ("both", 256),
        ("first", 20),
        ("picked", 32),
        ("obs", 128),
        ("rows", None),
        ("self.held * 2", 128),
        ("[1, 2, *rows]", None),
        ("self.memory", 10_000),
    ],
)
def test_lengths_follow_draws_shapes_and_settings(source: str, length: int | None) -> None:
    """A draw has as many items as asked for, a slice as many as it spans, a stack as many as its parts."""
    model = build({"options.py": OPTIONS, "agent.py": AGENT})["agent.py"]
    assert model.sizes.length(expression(model, source, last=True)) == length


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("half", 128),
        ("self.cfg.replay_capacity", 50_000),
        ("len(self.memory)", 10_000),
        ("max(1, len(self.memory))", 10_000),
        ("self.held.shape[0]", 128),
    ],
)
def test_numbers_are_those_that_the_program_sets(source: str, number: int) -> None:
    """Options of the command line, keys of configurations, and lengths of what is known."""
    model = build({"options.py": OPTIONS, "agent.py": AGENT})["agent.py"]
    assert model.sizes.number(expression(model, source, last=True)) == number


def test_passes_of_loops() -> None:
    """A range counts its numbers; the parts of an object are a few."""
    model = build({"options.py": OPTIONS, "agent.py": AGENT})["agent.py"]
    loops = [node for node in model.syntax.of_type(ast.For) if isinstance(node, ast.For)]
    assert [model.sizes.passes(loop) for loop in loops] == [3, 16, 8, 10]


def test_the_middle_of_several_settings_counts() -> None:
    """Scripts of one program train with different batches; other programs do not count."""
    files = {
        f"{name}.py": f"from agent import learn\nlearn(batch_size={size})\n"
        for name, size in (("a", 32), ("b", 64), ("c", 512))
    }
    files["agent.py"] = "def learn(batch_size):\n    print(batch_size)\n"
    files["alone.py"] = "batch_size = 7\n"
    model = build(files)["agent.py"]
    assert model.sizes.number(expression(model, "batch_size", last=True)) == 64


def test_no_loop_without_a_length() -> None:
    """A `while` loop, or an unknown iterator."""
    model = build({"a.py": "while go():\n    pass\nfor x in stream:\n    pass\n"})["a.py"]
    loops = [find(model, text) for text in ("while go():\n    pass", "for x in stream:\n    pass")]
    assert [model.sizes.passes(loop) for loop in loops] == [None, None]


def test_attribute_that_is_moved_keeps_its_length() -> None:
    """A conversion of the attribute itself says nothing about its length; another value does."""
    kept = """
import options
import torch

class Rollouts:
    def __init__(self, num_steps):
        self.rewards = torch.zeros(num_steps, 4)
        self.values = torch.zeros(num_steps, 4)

    def to(self, device, other):
        self.rewards = self.rewards.float().to(device)
        self.values = other.to(device)

    def compute(self):
        print(self.rewards, self.values)
"""
    model = build({"a.py": kept, "options.py": "num_steps = 5\n"})["a.py"]
    assert model.sizes.length(expression(model, "self.rewards", last=True)) == 5
    assert model.sizes.length(expression(model, "self.values", last=True)) is None


ENSEMBLE = """
import torch
from torch import nn

class Critics(nn.Module):
    def __init__(self, members=2):
        super().__init__()
        self.members = nn.ModuleList([nn.Linear(8, 1) for _ in range(members)])

    def forward(self, obs):
        return torch.stack([member(obs) for member in self.members], dim=0)

class Given(nn.Module):
    def __init__(self, members: nn.ModuleList):
        super().__init__()
        self.parts = members

    def forward(self, obs):
        return torch.stack([member(obs) for member in self.parts])

    def along(self, obs):
        return torch.stack([member(obs) for member in self.parts], dim=1)

class Learner:
    def __init__(self):
        self.critics = Critics()
        self.given = Given(nn.ModuleList())

    def learn(self, obs, target):
        values = self.critics(obs)
        errors = (values - target) ** 2
        others = self.given(obs)
        along = self.given.along(obs)
        print(errors, others, along)
        return sum(errors[i].mean() for i in range(errors.shape[0]))
"""


@pytest.mark.parametrize(("source", "length"), [("errors", 2), ("others", 8), ("along", None)])
def test_stacked_outputs_have_one_row_for_each_member(source: str, length: int | None) -> None:
    """As many as the list of networks, or a few if that is not known."""
    model = build({"a.py": ENSEMBLE})["a.py"]
    assert model.sizes.length(expression(model, source, last=False)) == length
    loop = next(iter(model.syntax.of_type(ast.GeneratorExp)))
    assert model.sizes.passes(loop) == 2


def test_the_length_of_a_rollout_is_that_of_a_setting() -> None:
    """A parameter, a field or an option; not that of another interval."""
    model = model_of("class Settings:\n    num_steps: int = 128\n    log_steps: int = 500\n")
    assert model.sizes.rollout() == 128
    assert model_of("class Settings:\n    log_steps: int = 500\n").sizes.rollout() is None
