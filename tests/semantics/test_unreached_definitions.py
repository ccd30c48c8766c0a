"""Definitions that no script of a project reaches, and methods that all used classes override."""

from __future__ import annotations

import pytest

from tests.project_builder import build, find, model_of

AGENTS = """\
class Agent:
    def act(self, state):
        return self.net(state)


class Unused:
    def act(self, state):
        return self.other(state)


class OfUnused(Unused):
    pass


def helper(state):
    return state + 1
"""
RUNS = 'if __name__ == "__main__":\n    Agent().act(helper(0))\n'


def unreached(files: dict[str, str], source: str = "self.other(state)", name: str = "agents.py") -> bool:
    """Whether no script reaches the definition around an expression."""
    model = build(files)[name]
    return bool(model.usage.why_left_out(find(model, source)))


@pytest.mark.parametrize(
    "train",
    [
        f"from agents import Agent, helper\n{RUNS}",
        f"from agents import Agent, helper, Unused\n{RUNS}",
        f"from agents import *\n{RUNS}",
        f"import agents\nAgent, helper = agents.Agent, agents.helper\n{RUNS}",
        f"from agents import Agent as First, helper\nAgent = First\n{RUNS}",
        f"def run():\n    from agents import Agent, helper\n    Agent().act(helper(0))\n{RUNS}",
    ],
)
def test_what_no_script_uses(train: str) -> None:
    """Scripts use other classes of the file, however they import them."""
    files = {"agents.py": AGENTS, "train.py": train}
    assert unreached(files)
    assert not unreached(files, "state + 1")
    assert not unreached(files, "self.net(state)")


SEPARATE_FILE = """\
class Other:
    def act(self, state):
        return self.other(state)
"""


@pytest.mark.parametrize(
    ("files", "is_unused"),
    [
        ({"train.py": f"from agents import Agent, helper\nfrom other import Other\n{RUNS}"}, True),
        ({"train.py": f"from agents import Agent, helper\nimport other\n{RUNS}"}, True),
        ({"train.py": f"from agents import Agent, helper\nfrom other import Other\nOther()\n{RUNS}"}, False),
        (
            {
                "train.py": f"from agents import Agent, helper\nfrom kinds import KINDS\nKINDS[0]()\n{RUNS}",
                "kinds.py": "from other import Other\n\nKINDS = [Other]\n",
            },
            False,
        ),
        ({"lab/other.py": SEPARATE_FILE, "train.py": f"from lab.other import Other\n{AGENTS}{RUNS}"}, True),
        (
            {
                "lab/train.py": f"from agents import Agent, helper\nfrom lab import Other\n{RUNS}",
                "lab/__init__.py": "from other import Other\n",
            },
            False,
        ),
    ],
)
def test_a_file_that_scripts_import_in_vain(files: dict[str, str], is_unused: bool) -> None:
    """They use nothing of it, and no other file of the project imports from it."""
    name = "lab/other.py" if "lab/other.py" in files else "other.py"
    given = {"agents.py": AGENTS, name: SEPARATE_FILE, **files}
    assert unreached(given, name=name) == is_unused


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": "from agents import Agent, helper, OfUnused\nOfUnused()\n"},
        {"train.py": "import agents\nagents.Unused().act(0)\n"},
        {"train.py": "import agents\ngetattr(agents, make())\n"},
        {"train.py": "from agents import *\nglobals()[make()]()\n"},
        {"train.py": "import agents\nmake('agents.Unused')\n"},
        {"train.py": "from agents import *\nUnused().act(0)\n"},
        {
            "train.py": "import names\nnames.KINDS[0]()\n",
            "names.py": "from agents import *\nKINDS = [Unused]\n",
        },
        {"lib/__init__.py": "from agents import Unused\n", "train.py": "from agents import Agent\nAgent()\n"},
        {},
    ],
)
def test_what_a_script_may_use(files: dict[str, str]) -> None:
    """By derived classes, other files, packages that export it, and names known only at run time; or there
    is no script.
    """
    assert not unreached({"agents.py": AGENTS, **files})


def test_a_decorator_may_register_a_class() -> None:
    """A registry keeps classes that nothing else names."""
    agents = AGENTS.replace("class Unused", "@register\nclass Unused")
    assert not unreached({"agents.py": agents, "train.py": f"from agents import *\n{RUNS}"})


@pytest.mark.parametrize(
    ("imported", "is_orphan"),
    [
        ("import agents.ppo, agents.dqn\nagents.ppo.Agent(), agents.dqn.Agent()\n", True),
        ("import agents.ppo, agents.dqn, agents.sac\nagents.ppo.Agent(), agents.dqn.Agent()\n", True),
        ("import agents.ppo, agents.dqn, agents.sac as sac\nsac.Agent()\nagents.dqn.Agent()\n", False),
        ("import agents.ppo\nagents.ppo.Agent()\n", False),
    ],
)
def test_a_file_of_which_scripts_use_nothing(imported: str, is_orphan: bool) -> None:
    """Scripts use nearly all other files of its package: of many agents, users choose one by an import."""
    files = {f"agents/{name}.py": AGENTS for name in ("ppo", "dqn", "sac")}
    files |= {"agents/__init__.py": "", "train.py": imported}
    assert unreached(files, "self.net(state)", "agents/sac.py") == is_orphan


@pytest.mark.parametrize("exported", ["from . import sac\n", "from .sac import *\n"])
def test_what_a_package_exports_as_a_module(exported: str) -> None:
    """Other programs may use all of it."""
    files = {f"agents/{name}.py": AGENTS for name in ("ppo", "dqn", "sac")}
    files |= {
        "agents/__init__.py": exported,
        "train.py": "import agents.ppo, agents.dqn\nagents.ppo.Agent()\n",
    }
    assert not unreached(files, "self.net(state)", "agents/sac.py")


BASES = """\
class Base:
    def act(self, state):
        return self.guess(state)

    def train(self):
        self.act(0)


class Agent(Base):
    def act(self, state):
        return BODY


class Other(Base):
    OTHER
"""


@pytest.mark.parametrize(
    ("parts", "is_overridden"),
    [
        ({}, True),
        ({"OTHER": "def act(self, state): return 2", "USED": "Agent(), Other()"}, True),
        ({"USED": "Agent(), Other()"}, False),
        ({"USED": "Agent(), Base()"}, False),
        ({"BODY": "super().act(state)"}, False),
        ({"BODY": "Base.act(self, state)"}, False),
        ({"USED": "make(Base)"}, False),
        ({"USED": "isinstance(Agent(), Base)"}, True),
    ],
)
def test_a_method_that_all_classes_override(parts: dict[str, str], is_overridden: bool) -> None:
    """No object is created that has the method itself, and none of the overriding methods calls it."""
    agents, train = BASES, "from agents import *\nfrom agents import Agent, Base, Other\nUSED\n"
    for name, part in {"BODY": "1", "OTHER": "size = 1", "USED": "Agent()", **parts}.items():
        agents, train = agents.replace(name, part), train.replace(name, part)
    model = build({"agents.py": agents, "train.py": train})["agents.py"]
    assert model.usage.is_overridden(find(model, "self.guess(state)")) == is_overridden


@pytest.mark.parametrize(
    ("main", "other", "is_overridden"),
    [
        ("Agent().train()", "class Base: pass\nBase()\n", True),
        ("Agent().train()", "from dqn import Base\nBase()\n", False),
        ("Agent().train()\nBase()", "", False),
    ],
)
def test_a_method_that_all_classes_of_a_script_override(main: str, other: str, is_overridden: bool) -> None:
    """Other scripts of the folder create objects of their own classes, which have the same names."""
    script = BASES.replace("BODY", "1").replace("OTHER", "size = 1") + f"\n\n{main}\n"
    model = build({"dqn.py": script, "ppo.py": other})["dqn.py"]
    assert model.usage.is_overridden(find(model, "self.guess(state)")) == is_overridden


@pytest.mark.parametrize(
    "train",
    [
        "import agents\nKINDS = {1: agents}\nKINDS[make()].Unused()\n",
        "if make():\n    from agents import Unused as Chosen\nelse:\n    from others import Other as Chosen\n"
        "Chosen().act(0)\n",
    ],
)
def test_modules_and_classes_that_are_chosen_at_run_time(train: str) -> None:
    """A module in a dict, and a name that branches import from different files."""
    files = {"agents.py": AGENTS, "others.py": "class Other:\n    pass\n", "train.py": train}
    assert not unreached(files)


TRAINING = """\
import tools

env = tools.make()
for _ in range(1000):
    env.step(env.action_space.sample())
"""
TOOLS = "import gymnasium\n\n\ndef make():\n    return gymnasium.make('CartPole-v1')\n"
OLD = "from tools import make\n\n\nclass Old:\n    def act(self, state):\n        return self.net(state)\n"
WITH_A_FOLDER = {
    "train.py": TRAINING,
    "tools.py": TOOLS,
    "old/__init__.py": "",
    "old/agent.py": OLD,
    "old/runner.py": "from old.agent import Old\n\n\ndef run():\n    return Old()\n",
}
"""A program with a folder that it does not use."""
FOUND_BY_NAME = f"import importlib\n{TRAINING}\nimportlib.import_module(env.name)\n"


@pytest.mark.parametrize(
    ("changed", "is_left_out"),
    [
        ({}, True),
        ({"train.py": f"{TRAINING}\nfrom old.runner import run\nrun()\n"}, False),
        ({"train.py": FOUND_BY_NAME}, False),
        ({"train.py": f"{TRAINING}\nexec(open('config.py').read())\n"}, False),
        ({"train.py": "import tools\nprint(tools.make())\n"}, False),  # no training is seen
        ({"old/runner.py": "from old.agent import Old\nif __name__ == '__main__':\n    Old()\n"}, False),
        ({"old/__init__.py": "from old.agent import Old\n"}, False),
        ({"tests/test_old.py": "from old.runner import run\ndef test_it():\n    run()\n"}, False),
        ({"lost.py": "import tools\nfrom old_project.old import Old\nOld()\n"}, True),
        (
            {"lost.py": "import tools\nfrom agent.old import Old\nOld()\n"},
            False,
        ),  # the import may mean this file
        ({"new/agent.py": OLD}, False),  # only as many other files are used as are not
        ({"a.py": TRAINING, "b.py": TRAINING, "new/agent.py": OLD}, True),
        ({"train.py": "print(1)\n", "examples/train.py": TRAINING}, False),
        ({"train.py": f"import hydra\n{TRAINING}"}, True),
        ({"train.py": f"import hydra\n{TRAINING}\nhydra.utils.instantiate(env)\n"}, False),
        ({"train.py": f"from hydra.utils import instantiate\n{TRAINING}\ninstantiate(env)\n"}, False),
        ({"train.py": f"import hydra\n{FOUND_BY_NAME}"}, False),
        ({"train.py": f"import gin\n{TRAINING}"}, False),
        ({"train.py": f"from lightning.pytorch.cli import LightningCLI\n{TRAINING}"}, False),
    ],
)
def test_a_folder_that_no_script_uses(changed: dict[str, str], *, is_left_out: bool) -> None:
    """Scripts use far more of the files and folders beside it. Tests, packages, and code that imports modules
    by names known only at run time may use it; and so may the users of a library.
    """
    assert unreached({**WITH_A_FOLDER, **changed}, "self.net(state)", "old/agent.py") == is_left_out


def test_a_folder_that_is_checked_alone() -> None:
    """Which scripts there are is not known."""
    files = {name: text for name, text in WITH_A_FOLDER.items() if name != "train.py"}
    assert not unreached(files, "self.net(state)", "old/agent.py")
    assert not unreached({"old/agent.py": OLD}, "self.net(state)", "old/agent.py")


REPLAY = "class ReplayBuffer:\n    def sample(self, size):\n        return self.draw(size)\n"
LEARN = "from {0}.deepq.replay import ReplayBuffer\n\n\ndef learn():\n    return ReplayBuffer().sample(1)\n"
RUN = "from {0}.deepq.learn import learn\nif __name__ == '__main__':\n    learn()\n"


@pytest.mark.parametrize(
    ("folder", "name", "imported", "is_unused"),
    [
        ("maddpg/", "baselines", "common", True),
        ("maddpg/", "baselines", "deepq.learn", False),
        ("", "baselines", "common", False),  # the project of the library itself, beside a script of it
        ("maddpg/", "algorithms", "common", False),
    ],
)
def test_a_copy_of_a_library(folder: str, name: str, imported: str, *, is_unused: bool) -> None:
    """Its own scripts are not those of the program that holds the copy."""
    package = f"{folder}{name}"
    used = "learn" if "learn" in imported else "make"
    files = {
        f"{folder}main.py": f"from {name}.{imported} import {used}\n{TRAINING}\n{used}()\n",
        f"{folder}tools.py": TOOLS,
        f"{package}/__init__.py": "",
        f"{package}/common.py": "def make():\n    return 1\n",
        f"{package}/deepq/__init__.py": f"from {name}.deepq.learn import learn\n",
        f"{package}/deepq/learn.py": LEARN.format(name),
        f"{package}/deepq/replay.py": REPLAY,
        f"{package}/deepq/run.py": RUN.format(name),
    }
    assert unreached(files, "self.draw(size)", f"{package}/deepq/replay.py") == is_unused


@pytest.mark.parametrize(
    "looked_up",
    [
        "import pkg.agents\ngetattr(pkg.agents, make())\n",
        "import pkg.agents\npkg.agents.__dict__[make()]\n",
        "import sys\nimport pkg.agents\nsys.modules[make()]\n",
    ],
)
def test_names_that_are_looked_up_in_a_module_of_a_package(looked_up: str) -> None:
    """All of its definitions may be meant."""
    files = {"pkg/__init__.py": "", "pkg/agents.py": AGENTS, "train.py": f"{looked_up}{RUNS}"}
    assert not unreached(files, name="pkg/agents.py")


LEFT_OVER = """\
class Agent:
    def train(self, batch):
        return self.new(batch)

    def old_train(self, batch):
        return self.old(batch)
"""
NETWORK = "from torch import nn\n" + LEFT_OVER.replace("Agent:", "Agent(nn.Module):")
TRAINS = "from agents import Agent\nAgent().train(0)\n"

OTHER = "class Other:\n    def old_train(self, batch): pass\n"
RUNS_OLD = "def run(agent):\n    agent.old_train(1)\n"
SEPARATE = f"{RUNS_OLD}run(make())\n"
"""A script that imports nothing from the project."""
ADJACENT_PROGRAM = {
    "train.py": TRAINING,
    "tools.py": TOOLS,
    "other.py": "import tools, agents\n\n\ndef run(agent):\n    agent.train(0)\n",
}


@pytest.mark.parametrize(
    ("changed", "is_left_over"),
    [
        ({}, True),
        ({"train.py": f"{TRAINS}agent = Agent()\nstep = agent.old_train\n"}, False),
        ({"other.py": RUNS_OLD}, True),
        ({"other.py": f"{RUNS_OLD}run(make())\nimport agents\n"}, False),
        ({"other.py": RUNS_OLD, "train.py": f"{TRAINS}import other\nother.run(make())\n"}, False),
        ({"agents.py": f"from frames import Base\n{LEFT_OVER.replace('Agent:', 'Agent(Base):')}"}, False),
        ({"agents.py": NETWORK}, True),
        ({"agents.py": NETWORK.replace("old_train", "forward")}, False),
        ({"agents.py": f"{LEFT_OVER}\ndef call(agent, name):\n    getattr(agent, name)()\n"}, False),
        ({"agents/__init__.py": "from agents.agents import Agent\n", "agents/agents.py": LEFT_OVER}, False),
        ({"train.py": "print(1)\n"}, False),
        (ADJACENT_PROGRAM, True),
        ({**ADJACENT_PROGRAM, "test_it.py": "import agents\nagents.Agent().old_train(1)\n"}, True),
        ({"train.py": f"{TRAINS}{OTHER}Other().old_train(1)\n"}, True),
        ({"train.py": f"{TRAINS}{OTHER}def run(other: Other): other.old_train(1)\nrun(Other())\n"}, True),
        ({"train.py": f"{TRAINS}{OTHER}step = Other().old_train\n"}, False),
        ({"train.py": f"{TRAINS}{OTHER.replace('Other:', 'Other(Agent):')}Other().old_train(1)\n"}, True),
        ({"train.py": f"{TRAINS}class Other(Agent): pass\nOther().old_train(1)\n"}, False),
        ({"train.py": f"{TRAINS}(Agent if make() else str)().old_train(1)\n"}, False),
        ({"train.py": f"{TRAINS}[Agent()][0].old_train(1)\n"}, False),
        ({"train.py": f"{TRAINS}def run(agent): agent.old_train()\n"}, True),
        ({"train.py": f"{TRAINS}def run(agent): agent.old_train(state=1)\n"}, True),
        ({"train.py": f"{TRAINS}def run(agent): agent.old_train(*make())\n"}, False),
        ({"train.py": f"{TRAINS}Agent.old_train(Agent(), 1)\n"}, False),
        ({"train.py": f"{TRAINS}import tool\ntool.old_train(1)\n"}, True),
        ({"train.py": f"{TRAINS}import lost.agents\nlost.agents.one.old_train(1)\n"}, False),
        ({"agents.py": LEFT_OVER.replace("self.old(batch)", "self.old(batch), self.old_train(batch)")}, True),
        ({"agents.py": f"{LEFT_OVER}\n    def old_run(self):\n        self.old_train(1)\n"}, True),
        ({"agents.py": f"{LEFT_OVER}\n    def __call__(self):\n        self.old_train(1)\n"}, False),
        ({"dqn.py": SEPARATE}, True),
        ({"dqn.py": SEPARATE, "find.py": "import importlib\nimportlib.import_module(make())\n"}, False),
    ],
)
def test_methods_that_are_left_over(changed: dict[str, str], *, is_left_over: bool) -> None:
    """No code calls them, though a script uses their class, or trains without it. A library may call those of
    its classes, other programs what a package exports.
    """
    files = {"agents.py": LEFT_OVER, "train.py": TRAINS, **changed}
    if "agents/__init__.py" in files:
        del files["agents.py"]
    name = "agents/agents.py" if "agents/agents.py" in files else "agents.py"
    model = build(files)[name]
    assert model.usage.is_unused(find(model, "self.old(batch)")) is is_left_over
    assert not model.usage.is_unused(find(model, "self.new(batch)"))


@pytest.mark.parametrize(
    ("changed", "is_left_over"),
    [
        ({}, True),
        ({"lib/__init__.py": "from lib.parts import Agent\n"}, False),
        ({"lib/__init__.py": "from lib.other import *\n"}, False),
        ({"lib/__init__.py": "import torch\n"}, True),
        ({"train.py": "from lib.parts import Agent\nAgent().train(0)\n"}, False),  # no training is seen
    ],
)
def test_what_a_part_of_a_package_exports(changed: dict[str, str], *, is_left_over: bool) -> None:
    """The programs of the package use it, unless they only show how it is used."""
    files = {
        "lib/__init__.py": "__version__ = '1'\n",
        "lib/other.py": "SIZE = 1\n",
        "lib/parts/__init__.py": "from .agents import Agent\n",
        "lib/parts/agents.py": LEFT_OVER,
        "tools.py": TOOLS,
        "train.py": f"{TRAINING}\nfrom lib.parts import Agent\nAgent().train(0)\n",
    }
    model = build({**files, **changed})["lib/parts/agents.py"]
    assert model.usage.is_unused(find(model, "self.old(batch)")) is is_left_over


def test_methods_that_a_later_definition_replaces() -> None:
    """Only the last definition is called; a decorator may keep the earlier ones."""
    text = """
        class Agent:
            def learn(self, batch):
                return self.old(batch)

            def learn(self, batch):
                return self.new(batch)

            @register
            def act(self, state):
                return self.first(state)

            @register
            def act(self, state):
                return self.second(state)
    """
    usage = (model := model_of(text)).usage
    assert usage.is_unused(find(model, "self.old(batch)"))
    for source in ("self.new(batch)", "self.first(state)", "self.second(state)"):
        assert not usage.is_unused(find(model, source))


@pytest.mark.parametrize(
    ("decorator", "why"),
    [
        ("@DeprecationWarning", "the decorator `DeprecationWarning` replaces it by a warning"),
        ("@deprecated('use train')", ""),
        ("@cache", ""),
    ],
)
def test_a_warning_in_place_of_a_function(decorator: str, why: str) -> None:
    """A class of warnings as a decorator leaves nothing that can be called."""
    model = model_of(f"class Agent:\n    {decorator}\n    def pre_train(self):\n        self.old()\n")
    assert model.branches.why_unreached(find(model, "self.old()")) == why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise NotImplementedError\n    work(batch)", "`raise NotImplementedError` comes before it"),
        ("return batch\n    for _ in batch:\n        work(batch)", "`return batch` comes before it"),
        ("exit()\n    work(batch)", "`exit()` comes before it"),
        ("sys.exit('done')\n    work(batch)", "`sys.exit('done')` comes before it"),
        ("stage.exit()\n    work(batch)", ""),
        ("if batch:\n        return batch\n    work(batch)", ""),
        ("try:\n        return batch\n    finally:\n        work(batch)", ""),
        ("work(batch)\n    return batch", ""),
    ],
)
def test_code_after_a_statement_that_leaves(body: str, why: str) -> None:
    """It does not run."""
    model = model_of(f"def learn(batch):\n    {body}\n")
    assert model.branches.why_unreached(find(model, "work(batch)")) == why
