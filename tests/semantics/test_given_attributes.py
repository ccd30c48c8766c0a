"""Attributes that code outside of the class sets: options, and factories."""

from __future__ import annotations

import pytest

from project_builder import build, expression
from rlint.models.value_type import TypeTag, alternatives
from rlint.semantics.model import SemanticModel

OPTIONS = {
    "options.py": """
        class Options:
            def __init__(self):
                self.network_fn = None
                self.steps = 0
    """,
    "networks.py": """
        import torch.nn as nn

        class Value(nn.Module):
            def forward(self, x):
                return x

        class Dueling(nn.Module):
            def forward(self, x):
                return x
    """,
    "agent.py": """
        class Agent:
            def __init__(self, config):
                self.config = config
                self.network = config.network_fn()
                self.optimizer = config.optimizer_fn(self.network.parameters())

            def act(self, x):
                return self.network(x)

            def learn(self):
                self.optimizer.step()
    """,
    "train.py": """
        import torch
        from agent import Agent
        from networks import Dueling, Value
        from options import Options

        def value(steps):
            config = Options()
            config.network_fn = lambda: Value(config.size)
            config.optimizer_fn = lambda parameters: torch.optim.Adam(parameters)
            config.steps = steps
            return Agent(config)
    """,
}


def agent_of(files: dict[str, str]) -> SemanticModel:
    """Return the model of the file with the agent."""
    return build(files)["agent.py"]


def test_a_function_in_an_option_gives_what_it_makes() -> None:
    """The result of a lambda that the script stores in the options is the type of the agent's attribute."""
    model = agent_of(OPTIONS)
    network = model.types.type_of(expression(model, "self.network", last=True))
    assert (network.tag, network.of) == (TypeTag.MODULE, "networks.Value")
    assert model.types.type_of(expression(model, "self.optimizer", last=True)).tag is TypeTag.OPTIMIZER


def test_what_is_set_from_outside_is_in_doubt() -> None:
    """Other code may store other values in the same attribute, so no safe fix depends on it."""
    model = agent_of(OPTIONS)
    assert model.types.type_of(expression(model, "self.network", last=True)).doubtful


def test_several_scripts_keep_all() -> None:
    """An attribute may hold the values that any of several scripts stores."""
    files = dict(OPTIONS)
    files["train.py"] += """
        def dueling():
            config = Options()
            config.network_fn = lambda: Dueling(config.size)
            return Agent(config)
    """
    model = agent_of(files)
    network = model.types.type_of(expression(model, "self.network", last=True))
    assert set(alternatives(network.of)) == {"networks.Value", "networks.Dueling"}


@pytest.mark.parametrize("made", ["make_network", "Value"])
def test_functions_and_classes_are_called_like_lambdas(made: str) -> None:
    """Calling a stored function or class returns the result of that function or an instance."""
    files = dict(OPTIONS)
    files["train.py"] = (
        files["train.py"].replace("lambda: Value(config.size)", made)
        + """
        def make_network():
            return Value(3)
    """
    )
    model = agent_of(files)
    assert model.types.type_of(expression(model, "self.network", last=True)).of == "networks.Value"


def test_what_the_class_stores_itself_has_priority() -> None:
    """The type that the class assigns to its attribute is not changed by assignments from outside."""
    files = dict(OPTIONS)
    files["agent.py"] += """
        def count(config):
            return config.steps
    """
    files["train.py"] += """
        import agent
        agent.count(Options())
    """
    model = agent_of(files)
    assert model.types.type_of(expression(model, "config.steps", last=True)).tag is TypeTag.INT


def test_what_tests_set_counts_for_nothing() -> None:
    """Values that only a test stores do not count."""
    files = dict(OPTIONS)
    files["tests/test_agent.py"] = files.pop("train.py").replace("def value", "def test_value")
    model = agent_of(files)
    assert not model.types.type_of(expression(model, "self.network", last=True)).of
