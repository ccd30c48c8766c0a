"""The values of numeric expressions, and the spelling of imported names."""

from __future__ import annotations

import ast

import pytest

from project_builder import expression, find, model_of
from rlint.semantics.types.numbers import Number, is_number, number_of

PROGRAM = """
import time as t
from concurrent import futures
from time import sleep as nap
POLL = 0.5
RATE = 1
RATE = 2
class Actor:
    interval = 0.25
    def __init__(self, gap=0.125):
        self.gap = gap
        self.steps = 0
        self.steps += 1
    def run(self, wait=2, *, rest=4, other):
        local = POLL / 5
        time = None
        print(0.001, 1 / 4 - 0.25, -POLL, local, wait, rest, other)
        print(self.interval, self.gap, self.steps, RATE, 1 / 0, HUGE)
""".replace("HUGE", HUGE := "9" * 400)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("0.001", Number(0.001)),
        ("1 / 4 - 0.25", Number(0.0)),
        ("-POLL", Number(-0.5)),
        ("local", Number(0.1)),
        ("wait", Number(2.0, fixed=False)),
        ("rest", Number(4.0, fixed=False)),
        ("other", None),
        ("self.interval", Number(0.25, fixed=False)),
        ("self.gap", Number(0.125, fixed=False)),
        ("self.steps", None),
        ("RATE", None),
        ("1 / 0", None),
        (HUGE, None),
    ],
)
def test_names_and_defaults_stand_for_numbers(source: str, number: Number | None) -> None:
    """A length or count is known if it is a literal, a name assigned once, or a default that callers may
    change.
    """
    model = model_of(PROGRAM)
    assert number_of(expression(model, source, last=True), model) == number


@pytest.mark.parametrize(
    ("qualified", "written"),
    [
        ("time.sleep", "t.sleep"),
        ("concurrent.futures.wait", "futures.wait"),
        ("queue.Empty", None),
    ],
)
def test_an_imported_function_is_written_as_the_file_imports_it(qualified: str, written: str | None) -> None:
    """New code uses the names that the file imports."""
    model = model_of(PROGRAM)
    place = find(model, "local = POLL / 5")
    assert isinstance(place, ast.stmt)
    assert model.names.spelled(qualified, place) == written


OPTIONS = """
import argparse
import torch
from dataclasses import dataclass
@dataclass
class Options:
    tau: float = 0.005
    rate: float = 1e-3
    mixed: float = 1.0
class Learned:
    def __init__(self):
        self.mixed = torch.zeros(1)
parser = argparse.ArgumentParser()
parser.add_argument("-d", "--soft-decay", type=float, default=0.1)
parser.add_argument("--name")
def learn(args, tau, share: float, config):
    half = args.tau / 2
    print(args.tau, 1 - args.tau, -half, args.soft_decay, share)
    print(tau, args.name, args.mixed, config["tau"], args.unknown, torch.rand(1) * 0.5, 1 - tau)
"""


@pytest.mark.parametrize("source", ["args.tau", "1 - args.tau", "-half", "args.soft_decay", "share"])
def test_numbers_are_recognised_by_what_the_project_declares(source: str) -> None:
    """A coefficient that is surely a number makes a fix safe."""
    model = model_of(OPTIONS)
    assert is_number(expression(model, source, last=True), model)


@pytest.mark.parametrize(
    "source",
    ["tau", "args.name", "args.mixed", 'config["tau"]', "args.unknown", "torch.rand(1) * 0.5", "1 - tau"],
)
def test_what_may_be_a_tensor_is_no_number(source: str) -> None:
    """If it is unknown, or one class contradicts it, no fix relies on it."""
    model = model_of(OPTIONS)
    assert not is_number(expression(model, source, last=True), model)


OVERRIDDEN = """
import torch
class Dropout:
    keep = 0.5
    scale = 2.0
    rate = 0.1
    def run(self):
        print(self.keep, self.scale, self.rate)
class PerUnit(Dropout):
    keep = torch.linspace(0, 1, 4)
    scale = 3.0
    rate = make_rate()
class Agent:
    def __init__(self, tau=0.3):
        self.tau = tau
    def run(self):
        print(1 - self.tau)
class Derived(Agent):
    def __init__(self, tau=0.2):
        super().__init__(tau)
class Configured:
    share = 0.5
    def __init__(self, **given):
        self.__dict__.update(given)
    def run(self):
        print(self.share)
class Named:
    part = 0.5
    def __init__(self, **given):
        vars(self).update(given)
    def run(self):
        print(self.part)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("self.keep", False),
        ("self.scale", True),
        ("self.rate", False),
        ("self.share", False),
        ("self.part", False),
        ("1 - self.tau", True),
    ],
)
def test_an_attribute_that_a_derived_class_or_a_caller_replaces_is_no_number(
    source: str, expected: bool
) -> None:
    """The number in the body of a class holds only where nothing else may be found under its name."""
    model = model_of(OVERRIDDEN)
    assert is_number(expression(model, source, last=True), model) is expected
