"""The sinks of a gradient that leaves its function: `model.gradients.traced`."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, find
from rlint.semantics.dataflow.value_flow import Cause
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.gradient_flow import TracedGradient

HEAD = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x, hidden=None):
        return torch.relu(self.body(x)), hidden


class Base:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.recurrent = Net()
        self.hidden = None
        self.kept = []
"""


def traced(
    methods: str, others: dict[str, str] | None = None, *, source: str = "self.net(x)", after: str = ""
) -> TracedGradient:
    """The sinks of `self.net(x)` in a class with these methods."""
    body = textwrap.indent(textwrap.dedent(methods), "    ")
    files = {"agent.py": f"{HEAD}\n\nclass Agent(Base):\n{body}{after}", **(others or {})}
    model = build(files)["agent.py"]
    return model.gradients.traced(expression(model, source))


def labels(trace: TracedGradient) -> list[str]:
    """The labels of its sinks, in order."""
    return sorted(label.value for label in trace.labels)


RETURNED = """
def values(self, x):
    q = self.net(x)
    return q
"""
STACKED = """
def values(self, xs, others):
    first, second = [], []
    for x, other in zip(xs, others):
        first.append(self.net(x))
        second.append(self.recurrent(other)[0])
    return torch.stack(first, dim=1), torch.stack(second, dim=1)
"""


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (RETURNED + "\ndef act(self, x):\n    return self.values(x).argmax().item()\n", ["index"]),
        (RETURNED + "\ndef act(self, x):\n    return self.values(x)[0].detach()\n", ["detached"]),
        (RETURNED + "\ndef learn(self, x):\n    self.values(x).mean().backward()\n", ["learned"]),
        (
            RETURNED
            + "\ndef act(self, x):\n    return self.values(x).argmax()\n"
            + "\ndef learn(self, x):\n    self.values(x).mean().backward()\n",
            ["index", "learned"],
        ),
        (
            RETURNED
            + "\ndef target(self, x):\n    return self.values(x) * 0.9\n"
            + "\ndef learn(self, x):\n    y = self.target(x).detach()\n",
            ["detached"],
        ),
        (
            RETURNED
            + "\ndef act(self, x):\n    with torch.no_grad():\n        self.kept.append(self.values(x))\n"
            + "\ndef learn(self, x):\n    y = self.values(x).detach() + torch.stack(self.kept)\n",
            ["detached"],
        ),
        (
            "\ndef sum(self, x):\n    return self.net(x)\n"
            "\ndef act(self, x):\n    return self.sum(x).argmax()\n"
            "\ndef learn(self, x):\n    torch.sum(x).backward()\n",
            ["index"],
        ),
        (RETURNED, ["returned"]),
        (RETURNED + "\ndef act(self, x):\n    return map(self.values, x)\n", ["returned"]),
        (
            STACKED + "\ndef learn(self, xs):\n    q, t = self.values(xs, xs)\n"
            "    (q.detach() - t).mean().backward()\n",
            ["detached"],
        ),
        (
            STACKED + "\ndef learn(self, xs):\n    q, t = self.values(xs, xs)\n"
            "    (q - t.detach()).mean().backward()\n",
            ["learned"],
        ),
        (
            STACKED + "\ndef learn(self, xs):\n    both = self.values(xs, xs)\n    return both[0].tolist()\n",
            ["number"],
        ),
    ],
)
def test_returned_values_go_on_at_the_callers(methods: str, expected: list[str]) -> None:
    """In a tuple, only the one item is followed; a function without callers is an answer, too."""
    assert labels(traced(methods)) == expected


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (
            "def step(self, x):\n    self.last = self.net(x)\n\ndef act(self):\n"
            "    return self.last.argmax()\n",
            ["index"],
        ),
        (
            "def step(self, x):\n    self.last = self.net(x)\n\ndef learn(self):\n"
            "    self.last.mean().backward()\n",
            ["learned"],
        ),
        ("def step(self, x):\n    self.last = self.net(x)\n", ["stored"]),
        (
            "def step(self, x):\n    self.kept.append(self.net(x))\n\ndef learn(self):\n"
            "    torch.stack(self.kept).mean().backward()\n    self.kept.clear()\n",
            ["learned"],
        ),
        ("def step(self, x):\n    self.kept.append(self.net(x))\n    self.kept.clear()\n", ["stored"]),
    ],
)
def test_attributes_are_followed_to_their_reads(methods: str, expected: list[str]) -> None:
    """A value that is stored and never read has no further uses."""
    assert labels(traced(methods)) == expected


def test_a_state_that_only_its_network_gets_back_does_not_escape() -> None:
    """The walk through a recursive function ends, and finds only the uses of the results."""
    found = traced(
        """
        def act(self, x):
            q, self.hidden = self.recurrent(x, self.hidden)
            return q.argmax().item()
        """,
        source="self.recurrent(x, self.hidden)",
    )
    assert labels(found) == ["index"]
    assert found.assumption == "no other code uses `self.hidden`"


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (
            """
            def scaled(self, value):
                return value * 2

            def act(self, x):
                return self.scaled(self.net(x)).argmax()

            def learn(self, x):
                self.scaled(self.recurrent(x)[0]).mean().backward()
            """,
            ["index"],
        ),
        (
            """
            def keep(self, value):
                self.last = value

            def act(self, x):
                self.keep(self.net(x))

            def learn(self):
                self.last.mean().backward()
            """,
            ["learned"],
        ),
        (
            """
            def down(self, value, depth):
                return self.down(value * 2, depth - 1) if depth else value

            def act(self, x):
                return self.down(self.net(x), 3).argmax()
            """,
            ["index"],
        ),
    ],
)
def test_parameters_come_back_out_where_they_went_in(methods: str, expected: list[str]) -> None:
    """A helper returns a value to the call that passed it, and to no other."""
    assert labels(traced(methods)) == expected


ACT = RETURNED + "\ndef act(self, x):\n    return self.values(x).argmax()\n"


@pytest.mark.parametrize(
    ("other", "expected", "assumed"),
    [
        ("import agent\n", ["index"], ("calls `values`",)),
        ("from agent import Agent\nAgent().values(1).mean().backward()\n", ["handed", "index"], ()),
        ("def run(thing):\n    thing.values(1).mean().backward()\n", ["handed", "index"], ()),
        ("class Other:\n    def values(self):\n        return self.values()\n", ["index"], None),
        (
            "from agent import Agent\n\n\nclass Other(Agent):\n    def values(self, x):\n"
            "        return self.values(x)\n",
            ["handed", "index"],
            (),
        ),
    ],
)
def test_what_other_files_do_is_a_cause_to_give_up(
    other: str, expected: list[str], assumed: tuple[str, ...] | None
) -> None:
    """Other classes with a method of this name call their own; otherwise there are unknown callers beside
    those of the file.
    """
    found = traced(ACT, {"other.py": other})
    assert labels(found) == expected
    assert assumed is None or found.assumed == assumed


@pytest.mark.parametrize(
    ("methods", "cause"),
    [
        (RETURNED, Cause.CALLERS),
        ("def step(self, x):\n    self.last = self.net(x)\n", Cause.OBJECT),
        ("def step(self, x, other):\n    other.last = self.net(x)\n", Cause.OBJECT),
        ("def step(self, x):\n    q = self.net(x)\n    return lambda: q\n", Cause.CAPTURED),
    ],
)
def test_giving_up_has_a_cause(methods: str, cause: Cause) -> None:
    """Unknown is an answer that says why."""
    assert traced(methods).lost == (cause,)


def test_nothing_is_assumed_of_a_script() -> None:
    """No other file can call functions of a script."""
    assert traced(ACT, after="\n\nAgent().act(torch.zeros(4))\n").assumed == ()


def test_module_level_runs_with_autograd_on() -> None:
    """Calls of unnamed functions do not affect the code at module level."""
    model = build(
        {
            "main.py": "from agent import run\nrun(1)\n",
            "agent.py": "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n\n\ndef run(x):\n"
            "    return net(x)\n",
            "other.py": "import torch\n\n\ndef make(maker):\n    with torch.no_grad():\n        maker()()\n",
        }
    )["agent.py"]
    assert model.gradients.autograd_at(find(model, "net(x)")) is Autograd.ON
