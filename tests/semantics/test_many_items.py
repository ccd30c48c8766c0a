"""Whether a loop likely has many items, where no number is known."""

from __future__ import annotations

import pytest

from project_builder import find, model_of

PROGRAM = """
import torch

class Learner:
    def learn(self, batch_size, buffer, board, legal, n_points, x):
        drawn = buffer.sample(batch_size)
        values = torch.ones(x)
        side = batch_size - 1
        self.optimizer.zero_grad()
        LOOP
        values.sum().backward()
        self.optimizer.step()

def train(learner, numbers, loader):
    for x in loader:
        learner.learn(*numbers, x)
"""


@pytest.mark.parametrize(
    ("loop", "many"),
    [
        ("for i in range(batch_size): x", True),
        ("for each in drawn: x", True),
        ("for i in range(values.size(0)): x", True),
        ("for i in range(len(values)): x", True),
        ("for i in range(values.shape[1]): x", False),
        ("for row in self.memory: x", True),
        ("for row in board: x", False),
        ("for row in board[:, side]: x", False),
        ("for row in board[:batch_size]: x", True),
        ("for action in legal: values[action] = 1", False),
        ("for i in range(n_points): x", True),
        ("for i in range(self.n_agents): x", False),
    ],
)
def test_names_and_types_tell_that_items_are_many(loop: str, many: bool) -> None:
    """Rows of a batch or a tensor, in learning; not its columns, nor what only has a place in a batch."""
    model = model_of(PROGRAM.replace("LOOP", loop))
    assert model.sizes.has_many(find(model, loop)) is many


def test_the_arrays_of_one_step_are_small() -> None:
    """A loop over rewards in an environment step is one over agents or the like; one over pixels is not."""
    model = model_of(
        """
def play(env, agent, scale):
    state = env.reset()
    while True:
        state, rewards, done, pixels = env.step(agent(state))
        for reward in rewards: scale(reward)
        for pixel in pixels: scale(pixel)
"""
    )
    assert not model.sizes.has_many(find(model, "for reward in rewards: scale(reward)"))
    assert model.sizes.has_many(find(model, "for pixel in pixels: scale(pixel)"))
