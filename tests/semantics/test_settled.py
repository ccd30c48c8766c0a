"""Attributes that keep the value from the construction of their object."""

from __future__ import annotations

import ast

import pytest

from project_builder import model_of


def is_setting(methods: str, *, read: str = "self.size", below: str = "") -> bool:
    """Whether `read`, in the method `act` of an agent with these further methods, is immutable."""
    indented = methods.replace("\n", "\n            ")
    model = model_of(
        f"""
        class Config:
            def __init__(self, width):
                self.width = width

        class Agent:
            def __init__(self, size, config):
                self.size = size
                self.config = config
                self.inner = Config(size)
                self._prepare()

            {indented}

            def _prepare(self):
                self.depth = 3

            def act(self):
                return {read}

        {below}
        """
    )
    returned = [node.value for node in model.syntax.of_type(ast.Return)][-1]
    assert isinstance(returned, ast.Attribute)
    return model.types.is_setting(returned)


@pytest.mark.parametrize("read", ["self.size", "self.depth", "self.config.width", "self.inner.width"])
def test_set_by_the_constructor(read: str) -> None:
    """Attributes set by the constructor, or by a helper that only it calls, are immutable; so are those of a
    config.
    """
    assert is_setting("", read=read)


@pytest.mark.parametrize(
    "method",
    [
        "def grow(self):\n    self.size = 2",
        "def grow(self):\n    self.size += 1",
        "def grow(self):\n    setattr(self, 'size', 2)",
        "def grow(self):\n    del self.size",
        "def grow(self):\n    for self.size in range(3):\n        pass",
        "@property\ndef size(self):\n    return 2",
    ],
)
def test_set_later(method: str) -> None:
    """An attribute that any code sets after construction is not immutable."""
    assert not is_setting(method)


def test_helper_called_later() -> None:
    """A helper of the constructor that others call, too, sets the attribute at any time."""
    assert not is_setting("def reset(self):\n    self._prepare()", read="self.depth")


@pytest.mark.parametrize(
    ("below", "settled"),
    [
        ("def tune(agent):\n            agent.size = 2", False),
        ("def tune():\n            config = Config(2)\n            config.size = 2", True),
        ("class Larger(Agent):\n            def grow(self):\n                self.size = 2", False),
        ("class Other:\n            def grow(self):\n                self.size = 2", True),
    ],
)
def test_set_by_others(below: str, settled: bool) -> None:
    """Assignments by other code count if the object may be of the class."""
    assert is_setting("", below=below) is settled


@pytest.mark.parametrize("read", ["self.unknown", "config.size"])
def test_unknown_values(read: str) -> None:
    """Attributes that the class does not set, or of objects other than `self`, are unknown."""
    assert not is_setting("", read=read)
