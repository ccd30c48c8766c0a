"""Networks in containers, wrapped, or built in other functions, and the results of their calls."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.models.value_type import TypeTag

_NETS = """
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        return self.body(x)

class Critic(nn.Module):
    def forward(self, x):
        return torch.tanh(x)

"""


def _type_of(program: str, used: str) -> TypeTag:
    model = model_of(_NETS + textwrap.dedent(program))
    return model.types.type_of(expression(model, used, last=True)).tag


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("self.net, self.other = Actor(), Critic()", "self.other"),
        ("self.nets = [Actor() for _ in range(n)]", "self.nets[0]"),
        ("self.nets = nn.ModuleList([Actor() for _ in range(n)])", "self.nets[1]"),
        ("self.nets = nn.ModuleList()\n        for _ in range(n): self.nets.append(Actor())", "self.nets[1]"),
        ("self.nets = nn.ModuleDict({'a': Actor(), 'b': Critic()})", "self.nets['a']"),
        ("self.nets = []\n        for _ in range(n): self.nets.append(Actor())", "self.nets[1]"),
        ("self.nets = {}\n        self.nets['a'] = Actor()\n        self.nets['n'] = 1", "self.nets['a']"),
        ("self.nets = {'actor': Actor(), 'n': 3}", "self.nets['actor']"),
        ("self.nets = dict(actor=Actor(), n=3)", "self.nets['actor']"),
        ("self.net = Actor() if n else Critic()", "self.net"),
        ("kinds = {'a': Actor, 'c': Critic}\n        self.net = kinds[n]()", "self.net"),
        ("self.net = torch.compile(Actor())", "self.net"),
        ("self.net = nn.DataParallel(Actor().cuda())", "self.net.module"),
        ("self.net = nn.Sequential(nn.Linear(3, 3), Actor())", "self.net[0]"),
    ],
)  # fmt: skip
def test_networks_are_known_wherever_they_are_kept(made: str, used: str) -> None:
    """Networks are found in tuples, lists, dictionaries, torch's containers, and wrappers."""
    program = f"""
class Agent:
    def __init__(self, n):
        {made}

    def act(self, x):
        print({used})
"""
    assert _type_of(program, used) is TypeTag.MODULE


@pytest.mark.parametrize(
    "made",
    [
        "net = Actor()",
        "net = torch.compile(Actor())",
        "net = nn.DataParallel(Actor())",
        "net = copy.deepcopy(Actor()).to('cuda')",
        "net = Actor() if flag else Critic()",
        "net = {'a': Actor, 'c': Critic}[flag]()",
        "net = nn.ModuleList([Actor(), Critic()])[0]",
        "net = nn.Sequential(Actor(), nn.Tanh())",
    ],
)
def test_a_network_that_returns_what_its_layers_return_gives_a_tensor(made: str) -> None:
    """A call of a network is recognised if it is compiled, wrapped, or one of several."""
    assert _type_of(f"{made}\nprint(net(x))", "net(x)") is TypeTag.TENSOR


def test_agents_in_a_list_have_their_networks() -> None:
    """The type of an item's attribute is known through the list and through the loop."""
    program = """
    class Agent:
        def __init__(self):
            self.actor = Actor()

    class Team:
        def __init__(self, n):
            self.agents = []
            for _ in range(n):
                self.agents.append(Agent())

        def act(self, x, i):
            for agent in self.agents:
                print(agent.actor(x))
            print(self.agents[i].actor(x))
    """
    assert _type_of(program, "agent.actor(x)") is TypeTag.TENSOR
    assert _type_of(program, "self.agents[i].actor(x)") is TypeTag.TENSOR


def test_attributes_are_unpacked_from_what_a_call_returns() -> None:
    """Each variable has the type of its part, also across files."""
    program = """
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(3, 3)

        def act(self, obs):
            logits = self.body(obs)
            return logits, "greedy"

    class Agent:
        def __init__(self):
            self.policy = Policy()

        def step(self, obs):
            self.logits, self.mode = self.policy.act(obs)
            print(self.logits, self.mode)
    """
    assert _type_of(program, "self.logits") is TypeTag.TENSOR
    assert _type_of(program, "self.mode") is TypeTag.STR


@pytest.mark.parametrize(
    ("body", "used", "tag"),
    [
        ("rows = []\nrows.append(torch.zeros(3))\nprint(rows[0])", "rows[0]", TypeTag.TENSOR),
        ("rows = []\nrows.append(1)\nrows.append(load())\nprint(rows[0])", "rows[0]", TypeTag.UNKNOWN),
        ("rows = load()\nrows.append(torch.zeros(3))\nprint(rows[0])", "rows[0]", TypeTag.UNKNOWN),
        ("d = {'x': 1, 'y': 'a'}\nprint(d['y'])", "d['y']", TypeTag.STR),
        ("d = {'x': 1, 'y': 'a'}\nd['y'] = 2\nprint(d['y'])", "d['y']", TypeTag.UNKNOWN),
        ("d = {'x': 1, 'y': 'a'}\nd[k] = 2\nprint(d['y'])", "d['y']", TypeTag.UNKNOWN),
        ("d = {**load(), 'y': 'a'}\nprint(d['y'])", "d['y']", TypeTag.UNKNOWN),
        ("d = {}\nd['x'] = 1\nd['y'] = 'a'\nprint(d['x'])", "d['x']", TypeTag.INT),
        ("from collections import defaultdict\nd = defaultdict(list)\nprint(d['x'])", "d['x']", TypeTag.LIST),
        ("def f():\n    return {'x': 1, 'y': 'a'}\nd = f()\nprint(d['y'])", "d['y']", TypeTag.STR),
    ],
)  # fmt: skip
def test_containers_hold_what_is_put_into_them(body: str, used: str, tag: TypeTag) -> None:
    """A dictionary with constant keys knows each value; an unknown key makes all values unknown."""
    assert _type_of(body, used) is tag


_HOLDS = "class Agent:\n    {0}\n    def __init__(self, n):\n        self.net = {1}\n"


@pytest.mark.parametrize(
    ("program", "tag"),
    [
        (_HOLDS.format("net: Actor", "load()"), TypeTag.MODULE),
        (_HOLDS.format("net: Actor = None", "n"), TypeTag.MODULE),
        (_HOLDS.format("net: list = ()", "n"), TypeTag.UNKNOWN),
        (
            "class Agent:\n    def __init__(self, n):\n        self.net = n\n"
            "        self.opt = torch.optim.Adam(self.net.parameters())\n",
            TypeTag.MODULE,
        ),
        (
            "class Policy:\n    def parameters(self):\n        return []\n"
            "class Agent:\n    def __init__(self, n):\n        self.net = n\n"
            "        self.opt = torch.optim.Adam(self.net.parameters())\n",
            TypeTag.UNKNOWN,
        ),
    ],
)  # fmt: skip
def test_annotations_and_parameters_identify_networks(program: str, tag: TypeTag) -> None:
    """An attribute with `parameters` is a network if the stored value does not show its type, unless another
    class has `parameters`.
    """
    assert _type_of(f"{program}    def act(self):\n        print(self.net)\n", "self.net") is tag


def test_a_class_of_an_unknown_base_that_runs_layers_is_a_network() -> None:
    """A class with `forward` and torch layers is a network; one without a base is not."""
    for base, tag in (("Base", TypeTag.MODULE), ("object", TypeTag.INSTANCE)):
        program = (
            f"from somewhere import Base\nclass Net({base}):\n    def __init__(self):\n"
            "        super().__init__()\n        self.body = nn.Linear(3, 3)\n"
            "    def forward(self, x):\n        return self.body(x)\nnet = Net()\nprint(net, net(x))\n"
        )
        assert _type_of(program, "net") is tag


def test_a_module_list_holds_what_is_appended_to_it() -> None:
    """The items of an initially empty `ModuleList` have the class of the appended modules, so that their
    results are known.
    """
    program = """
class Agent:
    def __init__(self, n):
        self.nets = nn.ModuleList()
        for _ in range(n):
            self.nets.append(Actor())

    def act(self, parts):
        outs = [net(part) for net, part in zip(self.nets, parts)]
        use(outs[0])
"""
    assert _type_of(program, "outs[0]") is TypeTag.TENSOR


@pytest.mark.parametrize(
    ("helper", "kind"),
    [
        ("for a, b in zip(to.parameters(), net.parameters()): a.data.copy_(b.data)", TypeTag.MODULE),
        ("print(to, net)", TypeTag.UNKNOWN),
    ],
)
def test_networks_passed_to_functions_that_read_their_weights(helper: str, kind: TypeTag) -> None:
    """An attribute is a network if its class, also a base class in another file, passes it to a function that
    reads its parameters.
    """
    model = build(
        {
            "base.py": f"""
                import torch
                from library import make_network

                def follow(net, to):
                    {helper}

                class Agent:
                    def __init__(self, options):
                        self.net = make_network(options)
                        self.target = make_network(options)
                        follow(self.net, to=self.target)
                """,
            "double.py": """
                from base import Agent

                class Double(Agent):
                    def act(self, state):
                        return self.target(state)
                """,
        }
    )["double.py"]
    assert model.types.type_of(expression(model, "self.target")).tag is kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return super().to(device)", TypeTag.MODULE),
        ("return super(Policy, self).to(device)", TypeTag.MODULE),
        ("super().to(device)", TypeTag.UNKNOWN),
        ("return 3", TypeTag.INT),
    ],
)
def test_networks_moved_by_their_own_method(body: str, kind: TypeTag) -> None:
    """A network whose class overrides `to`, also in another file, is the same network after the move."""
    model = build(
        {
            "policy.py": f"""
                import torch
                from torch import nn

                class Policy(nn.Module):
                    def __init__(self, size):
                        super().__init__()
                        self.body = nn.Linear(size, 2)
                        self.scale = torch.tensor(1.0)

                    def forward(self, x):
                        return self.body(x)

                    def to(self, device):
                        self.scale = self.scale.to(device)
                        {body}
                """,
            "agent.py": """
                from policy import Policy

                class Agent:
                    def __init__(self, size, device):
                        self.policy = Policy(size).to(device)

                    def act(self, state):
                        return self.policy(state)
                """,
        }
    )["agent.py"]
    found = model.types.type_of(expression(model, "self.policy", last=True))
    assert found.tag is kind
    assert (found.of == "policy.Policy") is (kind is TypeTag.MODULE)
