"""Which values are environments, and which calls make one."""

from __future__ import annotations

import ast

import pytest

from project_builder import expression, model_of
from rlint.semantics.types.environments import is_environment, makes_environment, stepped_in_turn
from rlint.semantics.types.one_row_batches import only_row

PROGRAM = """
    import gymnasium as gym
    from gymnasium.wrappers import TimeLimit

    class Maze:
        def reset(self):
            return 0

        def step(self, action):
            return 0, 0.0, False, {}

    class Optimizer:
        def step(self):
            pass

    def make_env(name):
        return gym.make(name)

    def current(envs=[gym.make("A-v0")]):
        return gym.make("A-v0")

    def play(env, envs, agent, optimizer, i):
        maze, other = Maze(), Optimizer()
        wrapped = TimeLimit(make_env("A-v0"), 10)
        use(env, envs[i], agent, optimizer, maze, other, wrapped, current())
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env", True),
        ("envs[i]", True),
        ("maze", True),
        ("wrapped", True),
        ("agent", False),
        ("optimizer", False),
        ("other", False),
    ],
)
def test_environments(text: str, *, expected: bool) -> None:
    """Environments of libraries, classes with `step` and `reset`, and values of unknown type with such a
    name.
    """
    model = model_of(PROGRAM)
    assert is_environment(expression(model, text, last=True), model) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Maze()", True),
        ("Optimizer()", False),
        ("gym.make(name)", True),
        ('make_env("A-v0")', True),
        ('TimeLimit(make_env("A-v0"), 10)', True),
        ("current()", True),
    ],
)
def test_what_makes_environments(text: str, *, expected: bool) -> None:
    """Environments are created by classes, a library's `make`, and functions of the project with such a name
    that return one.
    """
    model = model_of(PROGRAM)
    call = expression(model, text, last=True)
    assert isinstance(call, ast.Call)
    assert makes_environment(call, model) is expected


TURNS = """
    def collect(envs, env, agents, actions, n, i):
        for each, action in zip(envs, actions):
            each.step(action)
        for k in range(n):
            envs[k].step(actions[k])
            now = envs[k]
            now.step(1)
        for each in (env, envs[0]):
            each.step(2)
        for _ in range(n):
            env.step(3)
            envs[i].step(4)
        for each in envs:
            while True:
                each.step(5)
        for agent in agents:
            agent.step(6)
"""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("each.step(action)", "envs"),
        ("envs[k].step(actions[k])", "envs"),
        ("now.step(1)", "envs"),
        ("each.step(2)", None),  # a few literal ones
        ("env.step(3)", None),
        ("envs[i].step(4)", None),
        ("each.step(5)", None),  # one after the other
        ("agent.step(6)", None),
    ],
)
def test_environments_in_turn(text: str, held: str | None) -> None:
    """Environments are stepped in turn if each iteration of the innermost loop takes another one."""
    model = model_of(TURNS)
    call = expression(model, text)
    assert isinstance(call, ast.Call)
    found = stepped_in_turn(call, model)
    assert (model.source.text(found) if found is not None else None) == held


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("obs.unsqueeze(0)", "obs"),
        ("torch.unsqueeze(obs, dim=0)", "obs"),
        ("np.expand_dims(obs, 0)", "obs"),
        ("obs[None]", "obs"),
        ("obs[np.newaxis, :]", "obs"),
        ("obs.view(1, -1)", "obs"),
        ("torch.tensor([obs])", "obs"),
        ("obs.unsqueeze(1)", None),
        ("obs[0]", None),
        ("obs.view(-1, 1)", None),
        ("torch.tensor([obs, obs])", None),
    ],
)
def test_batches_of_one(text: str, row: str | None) -> None:
    """The common forms of expanding a value to a batch of one row."""
    model = model_of(f"import numpy as np\nimport torch\n\nx = {text}\n")
    found = only_row(expression(model, text), model)
    assert (model.source.text(found) if found is not None else None) == row


def test_ways_from_training() -> None:
    """The call paths from loops that take gradient steps to a line."""
    model = model_of(
        """
        def act(obs):
            return choose(obs)

        def collect(env, obs):
            for _ in range(100):
                obs = env.step(act(obs))

        def evaluate(env, obs):
            for _ in range(100):
                obs = env.step(act(obs))

        def train(env, optimizer, loss):
            for _ in range(1000):
                collect(env, None)
                evaluate(env, None)
                loss.backward()
                optimizer.step()

        def watch(env):
            act(env.reset())
        """
    )
    assert sorted(model.usage.ways_from_training(expression(model, "choose(obs)"))) == [
        ("train.train", "train.collect", "train.act"),
        ("train.train", "train.evaluate", "train.act"),
    ]
