"""The loop that counts for code which training as well as evaluations run."""

from __future__ import annotations

import pytest

from rlint.semantics.frequency.drivers import Driver
from tests.project_builder import build, find

PROGRAM = """\
import torch


class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def act(self, state):
        return self.net(state).argmax()

    def learn(self, batch):
        self.net(batch).mean().backward()
        self.optimizer.step()


def NAME(env, agent: Agent):
    state, done = env.reset(), False
    while not done:
        state, reward, done, info = env.step(agent.act(state))


def train(env, agent: Agent, memory):
    state = env.reset()
    for step in range(100_000):
        if step < 1000:
            action = env.action_space.sample()
        else:
            action = agent.act(state)
        state, reward, done, info = env.step(action)
        agent.learn(memory.sample(64))
        if step % 5000 == 0:
            NAME(env, agent)


train(make(), Agent(), make())
"""


@pytest.mark.parametrize(("name", "learns"), [("evaluate", True), ("collect", False)])
def test_the_loop_of_training_counts(name: str, learns: bool) -> None:
    """Evaluations have fewer conditions around the call, but are rare."""
    model = build({"train.py": PROGRAM.replace("NAME", name)})["train.py"]
    cadence = model.frequency.cadence(find(model, "self.net(state)"))
    assert cadence is not None
    assert Driver.ENVIRONMENT_STEP in cadence.drivers
    assert (Driver.GRADIENT_STEP in cadence.drivers) == learns
