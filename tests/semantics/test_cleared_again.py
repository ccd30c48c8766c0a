"""Objects that are created when there is none, and cleared again."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import expression, model_of
from rlint.rule import Heat

TRAINER = """
    class Trainer:
        def __init__(self, net, optimizer, last):
            self.net, self.optimizer, self.last = net, optimizer, last
            self.steps = None

        def training_step(self, batch, index, part_idx, done, close=False):
            if self.steps is None:
                self.steps = line(batch)
            loss = next(self.steps)
{body}
            return loss

        def close(self):
            {close}
"""


def heat_of(body: str, close: str = "pass") -> Heat:
    """Return how often the object is created."""
    source = TRAINER.format(body=textwrap.indent(body, " " * 12), close=close)
    model = model_of(source)
    return model.frequency.heat_of(expression(model, "line(batch)")).level


@pytest.mark.parametrize(
    "body",
    [
        "self.steps = None",
        "if part_idx == self.last - 1:\n    self.steps = None",
        "if part_idx != self.last:\n    pass\nelse:\n    self.steps = None",
        "if self.steps is not None:\n    self.steps = None",
        "self.optimizer.step()\nfor name in batch:\n    self.steps = None",
        "with self.lock:\n    self.steps = None",
    ],
)
def test_cleared_in_the_step(body: str) -> None:
    """What each step clears, the next creates again."""
    assert heat_of(body) is Heat.HOT


@pytest.mark.parametrize(
    ("body", "close"),
    [
        ("pass", "pass"),
        ("pass", "self.steps = None"),
        ("if close:\n    self.steps = None", "pass"),
        ("self.other.steps = None", "pass"),
        ("self.steps = iter([])", "pass"),
        ("try:\n    pass\nexcept StopIteration:\n    self.steps = None", "pass"),
    ],
)
def test_created_once(body: str, close: str) -> None:
    """What nothing clears, or only the end of the program, is created at the first step."""
    assert heat_of(body, close) is Heat.COLD


def test_created_in_each_episode() -> None:
    """What the end of an episode clears."""
    assert heat_of("if done:\n    self.steps = None") is Heat.WARM
