"""How many networks a program updates after each environment step."""

from __future__ import annotations

import pytest

from project_builder import build, find

AGENT = """
import torch

class Agent:
    def __init__(self, actor, critic, replay_buffer):
        self.replay_buffer = replay_buffer
        self.actor_optimizer = torch.optim.Adam(actor.parameters())
        self.critic_optimizer = torch.optim.Adam(critic.parameters())

    def act(self, state):
        return self.actor(state)

    def learn(self, times):
        for _ in range(times):
            batch = self.replay_buffer.sample(64)
            self.critic_loss(batch).backward()
            self.critic_optimizer.step()
            self.actor_loss(batch).backward()
            self.actor_optimizer.step()
"""
TRAIN = """
from agent import Agent

def train(agent: Agent, env, episodes):
    for _ in range(episodes):
        state, steps, done = env.reset(), 0, False
        while not done:
            state, reward, done, _ = env.step(agent.act(state))
            steps += 1
        agent.learn(steps)
"""


@pytest.mark.parametrize(
    ("agent", "updates"),
    [
        (AGENT, 2),
        (AGENT.replace("replay_buffer", "storage"), 0),
        (AGENT.replace("def learn", "def rollout(self): pass\n\n    def learn"), 0),
    ],
)
def test_replay_memories_are_learned_from_in_each_step(agent: str, updates: int) -> None:
    """Also if that happens after the episode; not if the program may learn from rollouts."""
    model = build({"agent.py": agent, "train.py": TRAIN})["agent.py"]
    assert model.sizes.replayed_updates(find(model, "self.actor(state)")) == updates


def test_evaluations_learn_nothing() -> None:
    """An environment that only evaluations step has no share of learning."""
    train = TRAIN.replace("def train", "def evaluate").replace("        agent.learn(steps)\n", "")
    model = build({"agent.py": AGENT, "train.py": train})["agent.py"]
    assert not model.sizes.replayed_updates(find(model, "self.actor(state)"))
