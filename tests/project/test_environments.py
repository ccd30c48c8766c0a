"""Which values are environments, and which calls make one."""

from __future__ import annotations

import ast

import pytest

from project_builder import expression, site_of
from rlint.project.environments import is_environment, makes_environment

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
    """Libraries' environments, classes with `step` and `reset`, and what is called so if nothing is known."""
    site = site_of(PROGRAM)
    assert is_environment(expression(site, text, last=True), site) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Maze()", True),
        ("Optimizer()", False),
        ("gym.make(name)", True),
        ('make_env("A-v0")', True),
        ('TimeLimit(make_env("A-v0"), 10)', True),
        ("current()", False),
    ],
)
def test_what_makes_environments(text: str, *, expected: bool) -> None:
    """A class, a library's `make`, and a function of the project that returns one and is called so."""
    site = site_of(PROGRAM)
    call = expression(site, text, last=True)
    assert isinstance(call, ast.Call)
    assert makes_environment(call, site) is expected
