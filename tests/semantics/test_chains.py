"""Heat chains name the methods that run: the type of the receiver determines them; guesses are marked."""

from __future__ import annotations

import pytest

from project_builder import build, expression, model_of

CLASSES = """
import torch
from torch import nn

class Actor(nn.Module):
    def reset_noise(self):
        return draw_actor(self)

class NoisyActor(Actor):
    def reset_noise(self):
        return draw_noisy(self)

class ActorCriticPolicy(nn.Module):
    def reset_noise(self):
        return draw_policy(self)

def reset_noise():
    return draw_function()

def make_actor() -> NoisyActor:
    return NoisyActor()

class Policy:
    actor: Actor
    def __init__(self):
        self.actor = self.make_actor()
"""
TRAIN = """
class {name}:
    {declared}
    def __init__(self, policy, actor{annotated}):
        self.optimizer = torch.optim.Adam([])
        self.actor = {value}

    def train(self):
        for _ in range(10):
            {call}
            loss = self.actor(torch.zeros(1)).mean()
            loss.backward()
            self.optimizer.step()
"""
ALL = {"draw_actor(self)", "draw_noisy(self)", "draw_policy(self)", "draw_function()"}


def reached(call: str = "self.actor.reset_noise()", value: str = "actor", **parts: str) -> dict[str, str]:
    """The helpers that a training loop reaches, with the last link of each chain."""
    filled = {"name": "Trainer", "declared": "pass", "annotated": "", **parts}
    model = model_of(CLASSES + TRAIN.format(call=call, value=value, **filled))
    chains = {text: model.frequency.heat_of(expression(model, text)).chain for text in sorted(ALL)}
    return {text: chain[-1] for text, chain in chains.items() if chain}


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ({"value": "NoisyActor()"}, {"draw_noisy(self)": "NoisyActor.reset_noise"}),
        ({"value": "make_actor()"}, {"draw_noisy(self)": "NoisyActor.reset_noise"}),
        (
            {"value": "policy.actor", "declared": "actor: NoisyActor"},
            {"draw_noisy(self)": "NoisyActor.reset_noise"},
        ),
        (
            {"annotated": ": Actor"},
            {"draw_actor(self)": "Actor.reset_noise", "draw_noisy(self)": "NoisyActor.reset_noise"},
        ),
        (
            {"value": "policy.actor", "declared": "actor: Actor"},
            {"draw_actor(self)": "Actor.reset_noise", "draw_noisy(self)": "NoisyActor.reset_noise"},
        ),
        ({"call": "reset_noise()"}, {"draw_function()": "reset_noise"}),
    ],
)  # fmt: skip
def test_the_type_of_the_receiver_names_the_method(shape: dict[str, str], names: dict[str, str]) -> None:
    """The type is known from the constructor, a factory or an annotation; only its methods and overrides are
    meant.
    """
    assert reached(**shape) == names


def test_a_guess_says_what_it_was_guessed_from() -> None:
    """If the type is unknown, the class named like the receiver is meant, with its subclasses."""
    assert reached() == {
        "draw_actor(self)": "Actor.reset_noise (guessed from actor.reset_noise)",
        "draw_noisy(self)": "NoisyActor.reset_noise (guessed from actor.reset_noise)",
    }


@pytest.mark.parametrize(
    ("base", "classes", "heated"),
    [
        ("Algorithm", ["Sac", "Dqn"], True),  # none of them is called like the receiver
        ("Algorithm", [f"Kind{number}" for number in range(20)], True),
        ("Algorithm", [f"Kind{number}" for number in range(60)], False),
        ("Other", ["Sac", "Dqn"], False),
    ],
)
def test_a_receiver_called_like_a_base_is_of_a_class_derived_from_it(
    base: str, classes: list[str], heated: bool
) -> None:
    """Even with many of them, and without an import between the files."""
    derived = "".join(
        f"class {name}(Base):\n    def train(self, batch):\n        return run_{name}(self)\n"
        for name in classes
    )
    models = build(
        {
            "base.py": f"class {base}:\n    def train(self, batch):\n        raise NotImplementedError\n",
            "derived.py": f"from base import {base} as Base\n{derived}",
            "loop.py": "import gymnasium as gym\nenv = gym.make('a')\ndef learn(algorithm):\n"
            "    while True:\n        batch = env.step(0)\n        algorithm.train(batch)\n",
            "main.py": "import derived\nimport loop\nloop.learn(derived.make())\n",
        }
    )
    model = models["derived.py"]
    for name in classes:
        assert bool(model.frequency.heat_of(expression(model, f"run_{name}(self)")).chain) is heated


@pytest.mark.parametrize(
    ("parameters", "heated"),
    [
        ("self, batch", True),
        ("self, batch, states=None", True),
        ("self, *batches", True),
        ("self, batch, states", False),
        ("self", False),
    ],
)
def test_a_method_that_needs_other_arguments_is_not_meant(parameters: str, heated: bool) -> None:
    """Whatever its name and that of its class."""
    models = build(
        {
            "policy.py": "class RecurrentPolicy:\n"
            f"    def draw_rows({parameters}):\n        return run(self)\n",
            "loop.py": "import gymnasium as gym\nfrom policy import RecurrentPolicy\nenv = gym.make('a')\n"
            "def learn(policy):\n    while True:\n        policy.draw_rows(env.step(0))\n",
        }
    )
    model = models["policy.py"]
    assert bool(model.frequency.heat_of(expression(model, "run(self)")).chain) is heated


def test_super_runs_the_method_of_the_base() -> None:
    """Other methods of that name are not meant."""
    model = model_of(
        CLASSES
        + "class Own(Actor):\n    def reset_noise(self):\n        super().reset_noise()\n"
        + "import gymnasium as gym\nenv = gym.make('a')\nactor = Own()\n"
        + "while True:\n    env.step(0)\n    actor.reset_noise()\n"
    )
    assert model.frequency.heat_of(expression(model, "draw_actor(self)")).chain[-2:] == (
        "Own.reset_noise",
        "Actor.reset_noise",
    )
    assert not model.frequency.heat_of(expression(model, "draw_policy(self)")).chain


@pytest.mark.parametrize(
    "given",
    ["torch.zeros(3)", "threading.Event()", "{}", "[1]", "re.compile('a')", "given"],
)
def test_values_of_libraries_run_no_methods_of_the_project(given: str) -> None:
    """Even if few classes of the project define a method of that name."""
    models = build(
        {
            "mine.py": "class Chooser:\n    def gather_rows(self):\n        return draw(self)\n",
            "use.py": "import re, threading, tensordict, torch, gymnasium as gym\nimport mine\n"
            "env = gym.make('a')\ndef run(given: tensordict.TensorDict):\n"
            f"    value = {given}\n    while True:\n        env.step(0)\n        value.gather_rows()\n",
        }
    )
    model = models["mine.py"]
    assert not model.frequency.heat_of(expression(model, "draw(self)")).chain


def test_a_mixin_finds_the_method_in_what_it_is_mixed_into() -> None:
    """`self.compute` of a mixin is the model's."""
    model = model_of(
        "import gymnasium as gym\nclass Mixin:\n    def act(self, x):\n        return self.compute(x)\n"
        "class Model:\n    def compute(self, x):\n        return draw(x)\n"
        "class Other:\n    def compute(self, x):\n        return leave(x)\n"
        "class Own(Mixin, Model):\n    pass\n"
        "env = gym.make('a')\nown = Own()\nwhile True:\n    env.step(own.act(1))\n"
    )
    assert model.frequency.heat_of(expression(model, "draw(x)")).chain[-1] == "Model.compute"
    assert not model.frequency.heat_of(expression(model, "leave(x)")).chain
