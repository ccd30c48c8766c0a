"""Environments and networks to pass to programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import torch
from torch import nn

WIDTH = 4
"""Numbers in an observation."""
_REWARDS: tuple[Callable[[float], Any], ...] = (
    float, float, float, np.float32, np.float64, int, np.array, torch.tensor,
    lambda number: np.array([number]),
)  # fmt: skip


@dataclass
class Shapes:
    """How many values a program unpacks at once, by the name of their source."""

    unpacked: dict[str, int] = field(default_factory=dict)

    def of(self, name: str, usual: int) -> int:
        """The number for one name."""
        return self.unpacked.get(name, usual)


class Space:
    """The actions or observations of an environment."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.n, self.shape, self.dtype = Random(rng.random()), 2, (WIDTH,), np.dtype(np.float32)
        self.low, self.high = np.full(WIDTH, -1.0, np.float32), np.full(WIDTH, 1.0, np.float32)
        self.discrete = rng.random() < 0.7

    def sample(self) -> Any:
        """One action."""
        return self.rng.randrange(2) if self.discrete else np.float32([self.rng.uniform(-1, 1)] * WIDTH)

    def contains(self, _: object) -> bool:
        """All are."""
        return True


_MOST_STEPS = 1_000
"""A program that ignores the end of an episode would never end; it must not cost minutes."""


class Env:
    """An environment whose interface is the one that the program expects."""

    def __init__(self, rng: Random, shapes: Shapes) -> None:
        self.rng = Random(rng.random())
        self.action_space, self.observation_space = Space(rng), Space(rng)
        self.single_action_space, self.single_observation_space = self.action_space, self.observation_space
        self.num_envs, self.spec, self.unwrapped, self.n_actions = 2, None, self, 2
        self.items, self.at_reset = shapes.of("step", 5), shapes.of("reset", 1)
        self.as_reward = rng.choice(_REWARDS)
        self.length = rng.randrange(1, 6)
        self.breaks = rng.randrange(1, 8) if rng.random() < 0.15 else 0
        self.reuses, self.gives_tensors = rng.random() < 0.4, rng.random() < 0.1
        self.dtype = rng.choice((np.float32, np.float64))
        self.time, self.steps = 0, 0
        self.row = np.zeros(WIDTH, self.dtype)

    def _observation(self) -> Any:
        row = self.row if self.reuses else np.zeros(WIDTH, self.dtype)
        row[:] = [self.rng.uniform(-1, 1) for _ in range(WIDTH)]
        return torch.as_tensor(row) if self.gives_tensors else row

    def reset(self, **_: Any) -> Any:
        """Begin an episode."""
        self.time = 0
        first = self._observation()
        return (first, {}) if self.at_reset == 2 else first

    def step(self, action: Any) -> Any:
        """Take a step; the result has as many parts as the program unpacks."""
        self.time += 1
        self.steps += 1
        if self.steps in (self.breaks, _MOST_STEPS):
            raise RuntimeError("the simulator is gone")
        done = self.time >= self.length
        reward = self.as_reward(round(self.rng.uniform(-1, 1), 2))
        found = [self._observation(), reward, done, False, {"time": self.time}]
        return tuple(found if self.items == 5 else [*found[:3], found[4], None, None][: self.items])

    def render(self, *_: Any, **__: Any) -> Any:
        """A picture."""
        return np.zeros((2, 2, 3), np.uint8)

    def close(self) -> None:
        """Nothing is open."""


class Net(nn.Module):
    """A network that accepts any input with numbers."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, 3), nn.Linear(3, 2)
        self.dropout = nn.Dropout(0.5) if rng.random() < 0.3 else nn.Identity()
        self.norm = nn.BatchNorm1d(3) if rng.random() < 0.2 else nn.Identity()
        self.calls = 0
        self.counts = rng.random() < 0.2

    def forward(self, x: Any, *_: Any) -> Any:
        """Two numbers for each observation."""
        if self.counts:
            self.calls += 1
        x = torch.as_tensor(x).float()
        x = x.reshape(-1, WIDTH) if x.numel() % WIDTH == 0 and x.dim() != 1 else nn.functional.pad(
            x.reshape(-1), (0, max(0, WIDTH - x.numel()))
        )[:WIDTH]  # fmt: skip
        hidden = torch.tanh(self.first(x))
        if hidden.dim() == 2 and len(hidden) > 1:
            hidden = self.norm(hidden)
        return self.last(self.dropout(hidden))

    def act(self, state: Any, *_: Any) -> int:
        """The best action."""
        return int(self(state).reshape(-1).argmax())

    predict = get_action = select_action = choose_action = act
