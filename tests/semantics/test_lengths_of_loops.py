"""A known number of iterations determines how often the body of a loop runs."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import expression, model_of
from rlint.findings import Heat

HEAD = """
import argparse
import gymnasium
from torch import nn
STEPS = 50_000
FEW = 5
parser = argparse.ArgumentParser()
parser.add_argument("--num-steps", type=int, default=20000)
parser.add_argument("--rollout-steps", type=int, default=8)
args = parser.parse_args()
net = nn.Linear(4, 2)
"""


def heat_of_line(text: str) -> Heat:
    """How hot `line()` is, in a program with options."""
    model = model_of(HEAD + textwrap.dedent(text))
    return model.frequency.heat_of(expression(model, "line()")).level


@pytest.mark.parametrize(
    ("text", "heat"),
    [
        ("for i in range(10_000):\n    line()\n    net(x)", Heat.HOT),
        ("for i in range(STEPS):\n    line()\n    memory.sample(x)", Heat.HOT),
        ("for i in tqdm(range(100_000)):\n    line()\n    thing.step(x)", Heat.HOT),
        ("for i in range(args.num_steps):\n    line()\n    thing.step(x)", Heat.HOT),
        ("i = 0\nwhile i < args.num_steps:\n    line()\n    thing.step(x)", Heat.HOT),
        ("def run(n_steps=30_000):\n    for i in range(n_steps):\n        line()\n        net(x)", Heat.HOT),
        ("def run(n_steps=30):\n    for i in range(n_steps):\n        line()\n        net(x)", Heat.COLD),
        ("for i in range(100):\n    line()\n    net(x)", Heat.COLD),
        ("for i in range(10_000):\n    line()\n    found.append(x)", Heat.COLD),
        ("for i in range(10_000):\n    line()\n    settings.get(i)", Heat.COLD),
        ("for i in range(unknown):\n    line()\n    net(x)", Heat.COLD),
        ("for i in range(1_000_000):\n    line()\n    found.append(x)", Heat.HOT),
        ("for i in range(99_999):\n    line()\n    found.append(x)", Heat.COLD),
    ],
)
def test_many_passes(text: str, heat: Heat) -> None:
    """A loop of ten thousand iterations that runs a network, samples or steps an object is a loop over
    steps; one of a hundred thousand is hot whatever it does.
    """
    assert heat_of_line(text) is heat


LEARNS = """
def play(env, count=4):
    for step in range(count):
        obs = env.step(0)
    return obs

def train(env, updates, length, short=5):
    for update in range(updates):
        {rollout}
        loss(obs).backward()
        line()
"""


@pytest.mark.parametrize(
    ("rollout", "heat"),
    [
        ("for step in range(5): obs = env.step(0)", Heat.HOT),
        ("for step in range(FEW): obs = env.step(0)", Heat.HOT),
        ("for step in range(short): obs = env.step(0)", Heat.HOT),
        ("for step in range(args.rollout_steps): obs = env.step(0)", Heat.HOT),
        ("obs = play(env)", Heat.HOT),
        ("obs = play(env, 5)", Heat.HOT),
        ("obs = play(env, 500)", Heat.WARM),
        ("for step in range(128): obs = env.step(0)", Heat.WARM),
        ("for step in range(length): obs = env.step(0)", Heat.WARM),
        ("while not done: obs = env.step(0)", Heat.WARM),
    ],
)
def test_a_gradient_step_after_a_few_environment_steps(rollout: str, heat: Heat) -> None:
    """Code in each gradient step is hot after few environment steps, and warm after a batch."""
    assert heat_of_line(LEARNS.format(rollout=rollout)) is heat


@pytest.mark.parametrize(("steps", "heat"), [("", Heat.WARM), ("=512", Heat.WARM), ("=1_000_000", Heat.COLD)])
def test_a_long_collecting_run_is_one_of_its_own(steps: str, heat: Heat) -> None:
    """A method that plays a million steps in a call is not called for each batch of rollouts."""
    text = f"""
    class Algo:
        def collect(self, n_steps{steps}):
            line()
            for step in range(n_steps):
                obs, reward, done, info = self.env.step(self.choose(obs))
            return obs
    """
    assert heat_of_line(text) is heat
