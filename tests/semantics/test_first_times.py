"""Code that a flag lets run once: it is set at the first time, or with each round."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.findings import Heat

AGENT = """
    import gym
    import torch
    from torch import nn


    class Agent:
        def __init__(self):
            self.net = nn.Linear(4, 2)
            self.optimizer = torch.optim.Adam(self.net.parameters())
            self.FLAG

        def begin(self):
            self.started = True
            self.first = False

        def reset_episode(self):
            ROUND

        def act(self, obs):
            TEST
            return self.net(obs)

    def main():
        env, agent = gym.make("CartPole-v1"), Agent()
        obs = env.reset()
        while True:
            obs, reward, done, info = env.step(agent.act(obs))
            if done:
                agent.reset_episode()
            agent.net(obs).mean().backward()
            agent.optimizer.step()
"""


@pytest.mark.parametrize(
    ("flag", "at_round", "test", "heat"),
    [
        ("started = False", "pass", "if not self.started:\n    work()\n    self.started = True", Heat.WARM),
        ("started = False", "pass", "if not self.started:\n    work()\n    self.begin()", Heat.WARM),
        ("started = False", "pass", "if obs and not self.started:\n    self.begin()\n    work()", Heat.WARM),
        ("first = True", "pass", "if self.first:\n    self.first = False\n    work()", Heat.HOT),
        (
            "started = False",
            "self.started = False",
            "if not self.started:\n    work()\n    self.begin()",
            Heat.WARM,
        ),
        ("started = False", "pass", "if not self.started:\n    work()", Heat.HOT),
        ("started = False", "pass", "if self.started:\n    work()\n    self.begin()", Heat.HOT),
        ("started = False", "pass", "if not self.started:\n    self.begin()\nelse:\n    work()", Heat.HOT),
        (
            "started = False",
            "pass",
            "if not self.started:\n    work()\n    self.begin()\nself.started = False",
            Heat.HOT,
        ),
        (
            "started = False",
            "pass",
            "if not self.started:\n    self.started = obs.any()\n    work()",
            Heat.HOT,
        ),
    ],
)
def test_a_flag_that_its_branch_sets(flag: str, at_round: str, test: str, heat: Heat) -> None:
    """Itself or by a method, so that the branch does not run again unless other code clears the flag."""
    lines = test.replace("\n", "\n" + " " * 12)
    model = model_of(AGENT.replace("FLAG", flag).replace("ROUND", at_round).replace("TEST", lines))
    assert model.frequency.heat_of(expression(model, "work()")).level is heat


def test_a_buffer_that_says_that_a_codebook_is_ready() -> None:
    """A network writes the flag in place, since it is saved with the weights."""
    model = model_of("""
        import torch
        from torch import nn

        class Codebook(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("ready", torch.tensor(False))

            def prepare(self, data):
                if self.ready:
                    return
                work()
                self.ready.data.copy_(torch.tensor(True))

            def forward(self, x):
                self.prepare(x)
                return x
    """)
    assert model.frequency.heat_of(expression(model, "work()")).level is Heat.COLD
