"""Code that only runs if the user of a program turns on an option which is off by default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlint.cli import cli
from tests.project_builder import find, model_of

TRAIN = """\
import argparse
from agent import Agent, Prioritized
IMPORTS

parser = argparse.ArgumentParser()
OPTION
args = parser.parse_args()


def train(env):
    agent = Agent(ARGUMENTS)
    MEMORY
    state = env.reset()
    while True:
        action = agent.act(state)
        state = env.step(action)
        agent.net(state).sum().backward()
        agent.optimizer.step()


if __name__ == "__main__":
    train(make())
"""
AGENT = """\
import torch
from torch.distributions import Normal


class Prioritized:
    def act(self, state):
        return Normal(self.net(state), 3.0).sample()


class Agent:
    def __init__(self, args, use_per=False, **options):
        self.net = torch.nn.Linear(4, 2)
        self.args = args
        self.memory = make(Prioritized)
        STORED

    def act(self, state):
        if TEST:
            return Normal(self.net(state), 1.0).sample()
        return Normal(self.net(state), 2.0).sample()
"""
SAMPLING = """\
from torch.distributions import Normal


def sample(agent, strategy):
    for _ in range(100_000):
        if strategy == "entropy":
            draw = Normal(agent.net(0), 4.0).sample()
        else:
            draw = Normal(agent.net(0), 5.0).sample()
        agent.env.step(draw)
"""
FLAG = 'parser.add_argument("--use-per", action="store_true")'
USED = {"AGENT": AGENT.replace("        self.memory = make(Prioritized)\n", "")}


def impacts(tmp_path: Path, agent: str = AGENT, checked: str = "agent.py", **parts: str) -> dict[float, str]:
    """Return the basis of the impact of each `Normal`, by its scale."""
    given = {
        "OPTION": FLAG, "ARGUMENTS": "args, use_per=args.use_per", "STORED": "self.use_per = use_per",
        "TEST": "self.use_per", "MEMORY": "memory = Prioritized()", "IMPORTS": "",
    }  # fmt: skip
    text = TRAIN
    for name, part in {**given, **parts}.items():
        text, agent = text.replace(name, part), agent.replace(name, part)
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "agent.py").write_text(agent)
    options = ["--isolated", "--no-cache", "--select", "RL321", "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(tmp_path)])
    lines = (tmp_path / checked).read_text().splitlines()
    return {
        float(lines[each["location"]["row"] - 1].partition("), ")[2][:3]): each["impact"]["basis"]
        for each in json.loads(ran.output)
        if each["filename"].endswith(checked)
    }


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"OPTION": 'parser.add_argument("--use-per", type=bool, default=False)'},
        {"OPTION": 'parser.add_argument("--prio", dest="use_per", action="store_true")'},
        {"OPTION": 'from absl import flags; flags.DEFINE_bool("use_per", False, "Prioritised")'},
        {"STORED": "self.use_per = args.use_per", "ARGUMENTS": "args"},
        {"TEST": "self.args.use_per", "ARGUMENTS": "args"},
        {"TEST": "self.args['use_per']", "ARGUMENTS": "vars(args)"},
        {"STORED": "self.use_per = args.get('use_per', False)", "ARGUMENTS": "vars(args)"},
        {"TEST": "getattr(self.args, 'use_per', False)", "ARGUMENTS": "args"},
        {"TEST": "self.use_per is True and len(state)"},
        {"OPTION": 'parser.add_argument("--use-per", type=bool, default=False, required=False)'},
        {"TEST": "self.args.use_per", "STORED": "self.use_per = Prioritized(args)", "ARGUMENTS": "args"},
        {
            "OPTION": 'parser.add_argument("--noise", type=float, default=0.0)',
            "TEST": "self.args.noise > 0",
            "ARGUMENTS": "args",
        },
        {
            "OPTION": 'parser.add_argument("--noise", type=float)',
            "TEST": "self.args.noise is not None",
            "ARGUMENTS": "args",
        },
        {"OPTION": "", "ARGUMENTS": "args, **options"},
    ],
)
def test_what_an_option_enables_has_a_low_impact(parts: dict[str, str], tmp_path: Path) -> None:
    """By a test of the option, of an attribute that holds it, or of a parameter of the constructor."""
    found = impacts(tmp_path, **parts)
    assert found[1.0].startswith("it only runs with other settings")
    assert "option" not in found[2.0]


@pytest.mark.parametrize(
    "parts",
    [
        {"OPTION": 'parser.add_argument("--use-per", action="store_false")'},
        {"OPTION": 'parser.add_argument("--use-per", required=True)'},
        {"ARGUMENTS": "args, use_per=True"},
        {"ARGUMENTS": "args, use_per=env.has_priorities"},
        {"OPTION": f"{FLAG}\nparser.set_defaults(use_per=True)"},
        {"IMPORTS": "import yaml"},
        {"OPTION": f"{FLAG}\nargs.use_per = Flag()"},
        {
            "OPTION": "",
            "ARGUMENTS": "args",
            "IMPORTS": "def start():\n    other, use_per = make()\n    return Agent(0, use_per=use_per)",
        },
        {"TEST": "not self.use_per"},
        {"TEST": "self.use_per or len(state)"},
        {
            "OPTION": 'parser.add_argument("--cuda", action="store_true")',
            "TEST": "self.args.cuda",
            "ARGUMENTS": "args",
        },
        {
            "OPTION": 'parser.add_argument("--algorithm", default="ppo")',
            "TEST": "self.args.algorithm == 'sac'",
            "ARGUMENTS": "args",
        },
    ],
)
def test_what_may_be_on_keeps_its_impact(parts: dict[str, str], tmp_path: Path) -> None:
    """If it is on by default or at any place, if other files set it, or if it selects a device or one of
    several algorithms.
    """
    assert "option" not in impacts(tmp_path, **parts).get(1.0, "")


CHOICE = 'parser.add_argument("--sampling", default="uniform")'


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"OPTION": 'parser.add_argument("--sampling", choices=["uniform", "entropy"], default="uniform")'},
        {"TEST": "self.args.sampling in ('entropy', 'disagree')"},
        {"TEST": "self.args.sampling != 'uniform'"},
        {"TEST": "self.sampling == 'entropy'", "STORED": "self.sampling = str(args.sampling)"},
        {
            "TEST": "self.sampling == 'entropy'",
            "OPTION": "",
            "STORED": "self.sampling = options.get('sampling', 'uniform')",
            "ARGUMENTS": "args, **{'sampling': 'uniform'}",
        },
    ],
)
def test_a_choice_that_is_not_the_default(parts: dict[str, str], tmp_path: Path) -> None:
    """A branch for another string than the declared one runs only if the user asks for it."""
    given = {"OPTION": CHOICE, "TEST": "self.args.sampling == 'entropy'", "ARGUMENTS": "args"}
    found = impacts(tmp_path, **{**given, **parts})
    assert found[1.0].startswith("it only runs with other settings")
    assert "option" not in found[2.0]


@pytest.mark.parametrize(
    "parts",
    [
        {"OPTION": CHOICE.replace("uniform", "entropy")},
        {"OPTION": f"{CHOICE}\nparser.set_defaults(sampling='entropy')"},
        {"OPTION": f"{CHOICE}\nparser.set_defaults(sampling=make())"},
        {"OPTION": CHOICE, "IMPORTS": "import yaml"},
        {"TEST": "self.args.sampling != 'entropy'"},
        {"TEST": "self.args.sampling.startswith('entropy')"},
    ],
)
def test_a_choice_that_may_be_made(parts: dict[str, str], tmp_path: Path) -> None:
    """The program declares it, sets it at another place, or reads its settings from a file."""
    given = {"OPTION": CHOICE, "TEST": "self.args.sampling == 'entropy'", "ARGUMENTS": "args"}
    assert "option" not in impacts(tmp_path, **{**given, **parts}).get(1.0, "")


def test_a_choice_that_a_match_statement_makes(tmp_path: Path) -> None:
    """A case of constants is a comparison."""
    agent = AGENT.replace(
        "        if TEST:\n            return",
        "        match self.args.sampling:\n            case 'entropy' | 'disagree':\n                return",
    )
    found = impacts(tmp_path, agent, OPTION=CHOICE, ARGUMENTS="args")
    assert found[1.0] == (
        "it only runs with other settings: `'entropy' | 'disagree'` is false by default: it is `uniform`"
    )


def test_a_choice_that_calls_of_other_files_pass_on(tmp_path: Path) -> None:
    """A parameter to which the only call, in another file, passes an option of another name."""
    (tmp_path / "sampling.py").write_text(SAMPLING)
    (tmp_path / "search.py").write_text("import yaml\nfrom train import train\ntrain(yaml.load(open('s')))\n")
    found = impacts(
        tmp_path,
        OPTION='parser.add_argument("--strategy-of-pairs", default="uniform")',
        IMPORTS="import sampling",
        MEMORY="sampling.sample(agent, args.strategy_of_pairs)",
        TEST="len(state)",
        ARGUMENTS="args",
        checked="sampling.py",
    )
    assert found[4.0].startswith("it only runs with other settings")
    assert "option" not in found[5.0]


@pytest.mark.parametrize(
    ("memory", "is_off"),
    [
        ("memory = Prioritized() if args.use_per else None", True),
        ("if args.use_per: memory = Prioritized()", True),
        ("if not args.use_per: memory = None\n    else: memory = Prioritized()", True),
        ("memory = None if args.use_per else Prioritized()", False),
        ("memory = Prioritized()", False),
        ("memory = Prioritized() if args.env else None", False),
    ],
)
def test_a_class_that_only_an_option_selects(memory: str, is_off: bool, tmp_path: Path) -> None:
    """All places where objects of it are created depend on options that are off by default."""
    found = impacts(tmp_path, USED["AGENT"], MEMORY=f"{memory}\n    memory.act(env)")
    assert (found[3.0] == "it only runs with other settings: `use_per` is off by default") == is_off


PASSED = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--sampling", default="uniform")
args = parser.parse_args()
net = torch.nn.Linear(4, 2)


def draw(state, strategy):
    if strategy == "entropy":
        return net(state)
    return state


def learn(state, sampling):
    return draw(state, "entropy") + draw(state, sampling)


learn(make(), args.sampling)
"""


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("draw(state, sampling)", '`strategy == "entropy"` is false by default: it is `uniform`'),
        ("draw(state, 'entropy')", ""),
    ],
)
def test_what_one_call_passes(call: str, reason: str) -> None:
    """A branch of a function may be off for one call, and on for another."""
    model = model_of(PASSED.replace('"entropy") +', "'entropy') +"))
    assert model.branches.why_off_at(find(model, call), find(model, "net(state)")) == reason
