"""A corridor to walk along: small enough to train on in a few seconds."""

from __future__ import annotations

import numpy as np


class Corridor:
    """A point on a line that is pushed left or right, and is to stay near the middle."""

    observation_size, actions = 4, 2

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def reset(self) -> np.ndarray:
        """Start an episode."""
        self.state = self.random.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.state.astype(np.float32)

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        """Push the point, and return the observation, the reward, and whether the episode is over."""
        position, speed, angle, turn = self.state
        force = 1.0 if action == 1 else -1.0
        turn += 0.02 * (9.8 * np.sin(angle) - force * np.cos(angle))
        speed += 0.02 * force
        self.state = np.array([position + 0.02 * speed, speed, angle + 0.02 * turn, turn])
        self.steps += 1
        fallen = bool(abs(self.state[2]) > 0.2 or abs(self.state[0]) > 2.4)
        return self.state.astype(np.float32), 1.0, fallen or self.steps >= 200
