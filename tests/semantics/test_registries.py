"""Registries: dicts of classes that files fill, looked up by a name from the settings."""

from __future__ import annotations

import pytest

from project_builder import build, expression
from rlint.findings import Heat
from rlint.models.value_type import TypeTag

LEARNERS = {
    "learners/__init__.py": """
        from .q import QLearner
        REGISTRY = {}
        from .coma import ComaLearner
        REGISTRY["q"] = QLearner
        REGISTRY["coma"] = ComaLearner
    """,
    "learners/q.py": """
        class QLearner:
            def __init__(self, controller):
                self.controller = controller

            def train(self, batch):
                return self.controller(batch)
    """,
    "learners/coma.py": """
        class ComaLearner:
            def __init__(self, controller):
                self.controller = controller

            def train(self, batch):
                return self.controller(batch)
    """,
    "controllers.py": """
        import torch.nn as nn

        class Controller(nn.Module):
            def forward(self, x):
                return x
    """,
    "train.py": """
        from controllers import Controller
        from learners import REGISTRY as learner_REGISTRY

        def main(args, env, buffer):
            learner = learner_REGISTRY[args.learner](Controller())
            for step in range(args.steps):
                env.step(step)
                learner.train(buffer.sample())
    """,
}


def test_what_a_registry_gives_is_one_of_its_classes() -> None:
    """The methods of each class that the registry holds may run, and are hot."""
    models = build(LEARNERS)
    call = expression(models["train.py"], "learner.train(buffer.sample())")
    assert {target.path for target in models["train.py"].types.call_targets(call)} == {  # type: ignore[arg-type]
        "learners.coma.ComaLearner.train",
        "learners.q.QLearner.train",
    }
    for file in ("learners/q.py", "learners/coma.py"):
        model = models[file]
        assert model.frequency.heat_of(expression(model, "self.controller(batch)")).level is Heat.HOT


def test_each_class_gets_the_arguments() -> None:
    """Arguments passed to a class from a registry are passed to the constructors of all its classes."""
    models = build(LEARNERS)
    for file in ("learners/q.py", "learners/coma.py"):
        kind = models[file].types.type_of(expression(models[file], "self.controller", last=True))
        assert (kind.tag, kind.of) == (TypeTag.MODULE, "controllers.Controller")


def test_one_unknown_class_keeps_the_others_reachable() -> None:
    """A library class in the registry does not exclude the project's classes."""
    files = {**LEARNERS}
    files["learners/__init__.py"] = """
        from elsewhere import Other
        from .q import QLearner
        REGISTRY = {"other": Other, "q": QLearner}
    """
    model = build(files)["learners/q.py"]
    assert model.frequency.heat_of(expression(model, "self.controller(batch)")).level is Heat.HOT


@pytest.mark.parametrize(
    ("register", "decorator", "looked_up"),
    [
        (
            """
        AGENTS = {}

        def register(name):
            def add(cls):
                AGENTS[name] = cls
                return cls
            return add
            """,
            'register("{}")',
            "AGENTS[args.agent]",
        ),
        (
            """
        AGENTS = {}

        def register(cls):
            AGENTS[cls.__name__] = cls
            return cls
            """,
            "register",
            "AGENTS[args.agent]",
        ),
        (
            """
        class Registry:
            def __init__(self):
                self.kinds = {}

            def register(self, name):
                def add(cls):
                    self.kinds[name] = cls
                    return cls
                return add

            def get(self, name):
                return self.kinds[name]

        register = Registry()
            """,
            'register.register("{}")',
            "register.get(args.agent)",
        ),
    ],
)
def test_decorators_fill_a_registry(register: str, decorator: str, looked_up: str) -> None:
    """A decorator that stores what it decorates puts the class into the registry."""
    files = {"registry.py": register}
    for name in ("Dqn", "Sac"):
        files[f"{name.lower()}.py"] = f"""
        from registry import register

        @{decorator.format(name)}
        class {name}:
            def act(self, x):
                return x
        """
    files["train.py"] = f"""
        import dqn, sac
        from registry import {looked_up.partition("[")[0].partition(".")[0]}

        def main(args, env):
            agent = {looked_up}()
            for step in range(args.steps):
                env.step(agent.act(step))
    """
    model = build(files)["train.py"]
    targets = model.types.call_targets(expression(model, "agent.act(step)"))  # type: ignore[arg-type]
    assert {target.path for target in targets} == {"dqn.Dqn.act", "sac.Sac.act"}
