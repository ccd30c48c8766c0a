"""The transitions that the agent learns from."""

from __future__ import annotations

import random
from collections import deque

import numpy as np


class ReplayMemory:
    """The last transitions, drawn from at random."""

    def __init__(self, capacity: int) -> None:
        self.transitions: deque = deque(maxlen=capacity)
        self.rewards = np.empty(0)

    def push(self, state, action, reward, next_state, done) -> None:
        """Keep a transition."""
        self.transitions.append((state, action, reward, next_state, done))
        self.rewards = np.append(self.rewards, reward)

    def sample(self, batch_size: int):
        """Draw a batch of transitions."""
        batch = random.sample(self.transitions, batch_size)
        states, actions, rewards, next_states, dones = zip(*batch)
        return states, actions, rewards, next_states, dones

    def __len__(self) -> int:
        return len(self.transitions)
