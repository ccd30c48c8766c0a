"""Options of programs that read their settings from YAML files of the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlint.cli import cli
from rlint.source.yaml_values import OTHER, yaml_values

TRAIN = """\
import sys
import yaml
from agent import Agent
IMPORTS

args = Options(yaml.safe_load(open(sys.argv[1])))
SET
agent = Agent(args)
state = env.reset()
while True:
    state = env.step(agent.act(state))
    agent.net(state).sum().backward()
    agent.optimizer.step()
"""
AGENT = """\
import torch
from torch.distributions import Normal


class Agent:
    def __init__(self, args):
        self.args = args
        self.net = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=args.lr)

    def act(self, state):
        if TEST:
            return Normal(self.net(state), 1.0).sample()
        return Normal(self.net(state), 2.0).sample()
"""
OFF = "it only runs with other settings: `{}` is false in all configurations of this project"


def impact(
    folder: Path, configurations: dict[str, str], test: str, *options: str, code: str = "", imports: str = ""
) -> str:
    """Return the basis of the impact of the distribution under a test, given YAML files."""
    (folder / "pyproject.toml").touch()
    for name, text in configurations.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "train.py").write_text(TRAIN.replace("SET", code).replace("IMPORTS", imports))
    (folder / "agent.py").write_text(AGENT.replace("TEST", test))
    arguments = ["check", "--isolated", "--select", "RL321", "--output-format", "json"]
    ran = CliRunner().invoke(cli, [*arguments, *(options or ["--no-cache"]), str(folder)])
    found = json.loads(ran.output)
    return next(each["impact"]["basis"] for each in found if "1.0" in _line(folder, each))


def _line(folder: Path, finding: dict[str, dict[str, int]]) -> str:
    return (folder / "agent.py").read_text().splitlines()[finding["location"]["row"] - 1]


@pytest.mark.parametrize(
    ("configurations", "test"),
    [
        ({"a.yaml": "use_per: false", "config/b.yml": "use_per: no"}, "self.args.use_per"),
        ({"a.yaml": "memory: {use_per: 0}"}, "self.args.use_per"),
        ({"a.yaml": "use_per:"}, "self.args.use_per is not None"),
        ({"a.yaml": "use_per: false"}, "self.args.get('use_per', False)"),
        ({"a.yaml": "mixer: qmix", "b.yaml": "mixer: vdn"}, "self.args.mixer == 'qatten'"),
        ({"a.yaml": "mixer: qmix", "b.yaml": "mixer:"}, "self.args.mixer in ('qatten', 'qplex')"),
        ({"a.yaml": "use_per: false", "b.yaml": "{{ cookiecutter }: :"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false", ".hidden.yaml": "use_per: true"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false", "b.yaml": "use_per: true\n" * 6000}, "self.args.use_per"),
    ],
)
def test_what_no_configuration_selects_has_a_low_impact(
    configurations: dict[str, str], test: str, tmp_path: Path
) -> None:
    """Whatever is no YAML, hidden or far too large for settings does not count."""
    assert impact(tmp_path, configurations, test).startswith(OFF.format(test.replace("'", "'")))


@pytest.mark.parametrize(
    ("configurations", "test"),
    [
        ({"a.yaml": "use_per: false", "config/b.yml": "use_per: yes"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false", "b.yaml": "search: {use_per: [false, true]}"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false", "b.yaml": "search: {use_per: {value: true}}"}, "self.args.use_per"),
        ({"a.yaml": "use_per: ${defaults.per}"}, "self.args.use_per"),
        ({"a.yaml": "use_per: !flag x"}, "self.args.use_per"),
        ({"a.yaml": "x: &on true\nuse_per: *on"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false"}, "self.args.get('use_per', True)"),
        ({"a.yaml": "mixer: qmix", "b.yaml": "mixer: qatten"}, "self.args.mixer == 'qatten'"),
        ({"a.yaml": "agent: rnn"}, "self.args.agent == 'ff'"),
        ({"a.yaml": "lr: 0.1"}, "self.args.use_per"),
        ({"a.yaml": "use_per: false"}, "self.args.use_all"),
        ({f"{number}.yaml": "use_per: false" for number in range(201)}, "self.args.use_per"),
    ],
)
def test_what_a_configuration_may_select_keeps_its_impact(
    configurations: dict[str, str], test: str, tmp_path: Path
) -> None:
    """Also if it selects one of several agents, is not given, or the files are too many."""
    assert "settings" not in impact(tmp_path, configurations, test)


@pytest.mark.parametrize(
    ("code", "imports", "is_off"),
    [
        ("args.use_per = True", "", False),
        ("Agent(args).args = dict(use_per=find())", "", False),
        ("@ex.named_config\ndef prioritized():\n    use_per = True", "", False),
        ("@ex.config\ndef usual():\n    use_per = False", "", True),
        ("args.use_per = False", "import gin", False),
    ],
)
def test_what_code_gives(code: str, imports: str, is_off: bool, tmp_path: Path) -> None:
    """The code sets an option besides the files, as Sacred does, or further files of another kind."""
    found = impact(tmp_path, {"a.yaml": "use_per: 0"}, "self.args.use_per", code=code, imports=imports)
    assert ("settings" in found) == is_off


def test_a_changed_configuration_is_noticed(tmp_path: Path) -> None:
    """The cache holds results for the settings as they were."""

    def checked(value: str) -> bool:
        cached = ("--cache-dir", str(tmp_path / "cache"))
        return "settings" in impact(tmp_path, {"a.yaml": f"use_per: {value}"}, "self.args.use_per", *cached)

    assert [checked(value) for value in ("0", "0", "1", "0", "2", "0")] == [
        True, True, False, True, False, True,
    ]  # fmt: skip


def test_constants_by_their_keys() -> None:
    """At all depths, in each document, as `yaml.safe_load` converts them."""
    text = b"a: {b: [{c: 1_000}, 2], d: ~}\ne: 'no'\n? [f]\n: 3\n<<: *g\n---\nh: off\ni: 1e-3\nj: 1.0e-3\n"
    assert yaml_values(text) == [
        ("a", OTHER), ("b", OTHER), ("c", 1000), ("d", None), ("e", "no"), ("", 3), ("<<", OTHER),
        ("h", False), ("i", "1e-3"), ("j", 0.001),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [b"a: b: c", b"\xff\xfe\x00", b"", b"a: " + b"9" * 9000, b"[" * 60_000])
def test_what_is_no_yaml_has_no_values(text: bytes) -> None:
    """No error, and no long wait."""
    assert yaml_values(text) == []


LEARNERS = """\
import torch
from torch.distributions import Normal


class Learner:
    def __init__(self, args):
        self.args = args
        self.net = torch.nn.Linear(4, 2)
        if args.mixer == "deep":
            self.mixer = Deep(self.net)

    def learn(self, state):
        if len(state) > 4:
            return self.mixer.mix(state)
        return Normal(self.net(state), 2.0).sample()


class Counterfactual(Learner):
    def learn(self, state):
        return Normal(self.net(state), 3.0).sample()


class Deep:
    def __init__(self, net):
        self.part = Part(net)

    def mix(self, state):
        return self.part.of(state)


class Part:
    def __init__(self, net):
        self.net = net

    def of(self, state):
        return Normal(self.net(state), 4.0).sample()
"""
REGISTRY = """\
from learners import Counterfactual, Learner

REGISTRY = {}
REGISTRY["plain"] = Learner
REGISTRY["coma"] = Counterfactual
"""
RUN = """\
import sys
import yaml
from registry import REGISTRY as learner_registry

args = Options(yaml.safe_load(open(sys.argv[1])))
learner = learner_registry[args.learner](args)
state = env.reset()
while True:
    state = env.step(learner.learn(state))
    learner.net(state).sum().backward()
    learner.optimizer.step()
"""


def bases(folder: Path, files: dict[str, str]) -> dict[float, str]:
    """Return the basis of the impact of each distribution in `learners.py`, by its scale."""
    given = {"pyproject.toml": "", "learners.py": LEARNERS, "registry.py": REGISTRY, "run.py": RUN, **files}
    for name, text in given.items():
        (folder / name).write_text(text)
    arguments = ["check", "--isolated", "--no-cache", "--select", "RL321", "--output-format", "json"]
    found = json.loads(CliRunner().invoke(cli, [*arguments, str(folder)]).output)
    lines = (folder / "learners.py").read_text().splitlines()
    return {
        float(lines[each["location"]["row"] - 1].partition("), ")[2][:3]): each["impact"]["basis"]
        for each in found
    }


@pytest.mark.parametrize(
    ("files", "is_off"),
    [
        ({"a.yaml": "learner: plain\nmixer: wide"}, True),
        ({"a.yaml": "learner: plain\nmixer: wide", "b.yaml": "learner: coma\nmixer: deep"}, False),
        ({"a.yaml": "lr: 0.1"}, False),
    ],
)
def test_classes_that_no_configuration_selects(files: dict[str, str], is_off: bool, tmp_path: Path) -> None:
    """In a registry, in a branch on a choice, and as a part of such a class."""
    found = bases(tmp_path, files)
    none = "it only runs with other settings: no configuration of this project has"
    assert found[3.0].startswith(f"{none} `learner: coma`") == is_off
    assert found[4.0].startswith(f"{none} `mixer: deep`") == is_off
    assert "settings" not in found[2.0]


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN.replace("[args.learner]", "[sys.argv[2]]")},
        {"run.py": RUN + "for each in learner_registry.values(): each(args)\n"},
        {"run.py": RUN + "Other = learner_registry['coma']\n"},
        {"other.py": "import registry\nfrom run import args\nregistry.REGISTRY[find()](args)\n"},
        {"other.py": "from registry import *\nfrom run import args\nREGISTRY[find()](args)\n"},
        {"other.py": "from registry import REGISTRY\nfrom run import args\nmake(REGISTRY, args)\n"},
        {"registry.py": f"{REGISTRY}\ndef make(name):\n    return REGISTRY[name]\n"},
        {"registry.py": f"{REGISTRY}\nDEFAULT = Counterfactual\n"},
        {"learners.py": LEARNERS.replace("class Counterfactual", "@register\nclass Counterfactual")},
        {"run.py": f"{RUN}\nargs.learner = find()\n"},
    ],
)
def test_classes_that_may_be_looked_up(files: dict[str, str], tmp_path: Path) -> None:
    """By other keys, by code that is not understood, or without the registry."""
    assert "settings" not in bases(tmp_path, {"a.yaml": "learner: plain\nmixer: wide", **files})[3.0]


def test_a_class_whose_subclass_is_selected(tmp_path: Path) -> None:
    """Its methods run for objects of the subclass."""
    derived = "\n\nclass Deeper(Deep):\n    pass\n"
    used = LEARNERS.replace(
        "        if args.mixer", "        self.other = Deeper(self.net)\n        if args.mixer"
    )
    given = {"a.yaml": "learner: plain\nmixer: wide", "learners.py": used + derived}
    assert "settings" not in bases(tmp_path, given)[4.0]


def test_a_registry_that_is_a_display(tmp_path: Path) -> None:
    """All of its items at once."""
    display = 'REGISTRY = {"plain": Learner, "coma": Counterfactual}\n'
    given = {"a.yaml": "learner: plain", "registry.py": REGISTRY.partition("\nREGISTRY")[0] + "\n" + display}
    assert "`learner: coma`" in bases(tmp_path, given)[3.0]


CRITIC = """\
import sys
import torch
import yaml

args = Options(yaml.safe_load(open(sys.argv[1])))


class Critic(torch.nn.Module):
    def __init__(self, n_agents=5):
        super().__init__()
        self.n_agents = n_agents
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))

    def forward(self, states):
        return torch.cat([self.net(states[:, each]) for each in range(self.n_agents)], 1)


critic = Critic(args.n_agents)
optimizer = torch.optim.Adam(critic.parameters())
for states in batches():
    loss = critic(states).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("configurations", "number"),
    [
        ({"a.yaml": "task: {n_agents: 12}"}, 12),
        ({"a.yaml": "N_AGENTS: 3", "b.yaml": "n_agents: 12", "c.yaml": "n_agents: 40"}, 12),
        ({"a.yaml": "n_agents: [3, 4]"}, 5),
        ({"a.yaml": "lr: 0.1"}, 5),
    ],
)
def test_sizes(configurations: dict[str, str], number: int, tmp_path: Path) -> None:
    """They replace the defaults of the code; the middle one of several counts."""
    for name, text in {"pyproject.toml": "", "train.py": CRITIC, **configurations}.items():
        (tmp_path / name).write_text(text)
    arguments = ["check", "--isolated", "--no-cache", "--select", "RL314", "--output-format", "json"]
    [found] = json.loads(CliRunner().invoke(cli, [*arguments, str(tmp_path)]).output)
    assert f"(here {number} items)" in found["impact"]["basis"]
