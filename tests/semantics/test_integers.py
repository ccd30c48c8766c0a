"""Expressions that are integers, for certain or judging by their names."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.semantics.types.integers import is_integer

PROGRAM = """
class Replay:
    def __init__(self, max_size, items):
        self.items = []
        self.mem_cntr = 0
        self.mem_size = max_size
        self.limit = None

    def sample(self, n_actions, rows, count: int, env, x):
        max_mem = min(self.mem_cntr, self.mem_size)
        known = max(count, len(self.items))
        either = rows if x else 3
        print(max_mem, known, either, n_actions, rows, count, len(rows), env.action_space.n, self.mem_size)
        print(len(rows) - 1, n_actions // 2, count / 2, self.items, True, 0.5, self.limit)
"""


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("len(rows)", True),
        ("len(rows) - 1", True),
        ("count", True),
        ("known", True),
        ("max_mem", False),
        ("self.mem_size", False),
        ("n_actions", False),
        ("n_actions // 2", False),
        ("rows", None),
        ("either", None),
        ("count / 2", None),
        ("self.items", None),
        ("self.limit", None),
        ("True", None),
        ("0.5", None),
    ],
)
def test_whole_numbers_are_distinguished_from_what_may_be_an_array(source: str, found: bool | None) -> None:
    """Lengths and counters are certain, names of counts are likely, everything else is unknown."""
    model = model_of(PROGRAM)
    assert is_integer(expression(model, source), model) is found


COUNTERS = """
class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.position = 0
        self.size = 0
        self.seen = 0
        self.scaled = 1

    def add(self, rows):
        self.position = (self.position + 1) % self.capacity
        self.size = min(self.size + len(rows), self.capacity)
        self.seen = self.seen + 1
        self.scaled = self.scaled * 0.99

    def show(self):
        print(self.position, self.size, self.seen, self.scaled, self.capacity)
"""


@pytest.mark.parametrize("name", ["position", "size", "seen"])
def test_counters_stay_whole_numbers(name: str) -> None:
    """A counter that is increased by integers, wrapped or clamped keeps the type of its initial value."""
    model = model_of(COUNTERS)
    assert is_integer(expression(model, f"self.{name}", last=True), model) is True


@pytest.mark.parametrize("name", ["scaled", "capacity"])
def test_what_may_be_a_fraction_is_no_counter(name: str) -> None:
    """A factor may give fractions, and a parameter is unknown."""
    model = model_of(COUNTERS)
    assert is_integer(expression(model, f"self.{name}", last=True), model) is not True
