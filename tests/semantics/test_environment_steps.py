"""Environments are recognised by their methods, and stepping several of them is one step of the enclosing
loop.
"""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.findings import Heat

CLASS = """
import torch.nn as nn
from somewhere import Base, CartPoleEnv

class Thing(BASES):
    def reset(self):
        begin()
        return 0

    def step(self, action):
        line()
        return RETURNED
"""
LOOP = """
def main(problem, envs, remotes, actions, steps):
    for step in range(steps):
        line()
        STEP
"""


@pytest.mark.parametrize(
    ("bases", "returned", "level"),
    [
        ("", "0, 1.0, False, {}", Heat.HOT),
        ("", "0, 1.0, False, False, {}", Heat.HOT),
        ("Base", "0, 1.0, False, {}", Heat.HOT),
        ("", "0, 1.0", Heat.COLD),
        ("", "0, 1.0, False", Heat.COLD),
        ("CartPoleEnv", "0, 1.0, False", Heat.COLD),
        ("", "self.env.step(action)", Heat.HOT),
        ("", "self.count", Heat.COLD),
        ("nn.Module", "0, 1.0, False, {}", Heat.COLD),
    ],
)
def test_a_class_that_steps_and_resets(bases: str, returned: str, level: Heat) -> None:
    """A method that takes an action and returns an observation, a reward, flags and more is a step."""
    model = model_of(CLASS.replace("BASES", bases).replace("RETURNED", returned))
    assert model.frequency.heat_of(expression(model, "line()")).level is level
    warm = Heat.WARM if level is Heat.HOT else Heat.COLD
    assert model.frequency.heat_of(expression(model, "begin()")).level is warm


def test_a_subclass_of_an_environment_that_is_not_known() -> None:
    """An unknown base class may define `reset`."""
    text = CLASS.replace("BASES", "CartPoleEnv").replace("RETURNED", "0, 1.0, False, False, {}")
    model = model_of(text.replace("def reset", "def begin_again"))
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT


@pytest.mark.parametrize(
    ("step", "level"),
    [
        ("for env, action in zip(envs, actions): env.step(action)", Heat.HOT),
        ("for i in range(len(envs)): envs[i].step(actions[i])", Heat.HOT),
        ("[env.step(action) for env, action in zip(envs, actions)]", Heat.HOT),
        ("[conn.send(('step', action)) for conn, action in zip(remotes, actions)]", Heat.HOT),
        ("for conn in remotes: conn.send({'command': 'step', 'data': actions})", Heat.HOT),
        ("for conn in remotes: conn.send(('reset', None))", Heat.COLD),
        ("remotes[0].send(('step', actions))", Heat.HOT),
        ("problem.step_async(actions); result = problem.step_wait()", Heat.HOT),
        ("while running: envs.step(actions)", Heat.WARM),
        ("for action in actions: envs.step(action)", Heat.WARM),
    ],
)
def test_steps_in_turn(step: str, level: Heat) -> None:
    """A loop that steps each of several environments is one step in each iteration of the enclosing loop."""
    model = model_of(LOOP.replace("STEP", step))
    assert model.frequency.heat_of(expression(model, "line()")).level is level


def test_a_call_of_a_step_of_the_project() -> None:
    """The loop that calls the step of an environment is hot, whatever the object is called."""
    text = CLASS.replace("BASES", "").replace("RETURNED", "0, 1.0, False, {}")
    text += "def main(steps):\n    it = Thing()\n    for _ in range(steps):\n"
    text += "        out = it.step(0)\n        around()\n"
    model = model_of(text)
    assert model.frequency.heat_of(expression(model, "around()")).level is Heat.HOT
