"""Groups of files that may depend on each other, determined from import lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlint.semantics.imports.import_groups import grouped
from rlint.semantics.imports.import_scan import glance_at

FILES = {
    "train.py": "train",
    "utils.py": "utils",
    "agents/__init__.py": "agents",
    "agents/dqn.py": "agents.dqn",
    "agents/nets/__init__.py": "agents.nets",
    "agents/nets/gym.py": "agents.nets.gym",
    "scripts/plot.py": "scripts.plot",
    "scripts/helpers.py": "scripts.helpers",
    "scripts/utils.py": "scripts.utils",
}
PACKAGES = {"agents/dqn.py": "agents", "agents/nets/gym.py": "agents.nets", "scripts/plot.py": "scripts"}


def together(importer: str, text: str) -> set[str]:
    """The files that are in the group of `importer`, where only that imports anything."""
    imports = {name: set[str]() for name in FILES}
    imports[importer] = glance_at(Path("a.py"), text.encode()).imported_paths(PACKAGES.get(importer, ""))
    [group] = [group for group in grouped(FILES, imports) if importer in group]
    return set(group) - {importer}


@pytest.mark.parametrize(
    ("importer", "text", "meant"),
    [
        ("train.py", "import utils\n", {"utils.py"}),
        ("train.py", "agent = import_module('agents.dqn')\n", {"agents/__init__.py", "agents/dqn.py"}),
        (
            "agents/dqn.py",
            'nets = importlib.import_module(".nets", __package__)\n',
            {"agents/__init__.py", "agents/nets/__init__.py"},
        ),
        ("train.py", "agent = import_module(name)\n", set()),
        ("train.py", "sys.modules['agents.dqn'].RATE = 2\n", {"agents/__init__.py", "agents/dqn.py"}),
        ("train.py", "import os, utils as u\n", {"utils.py"}),
        ("train.py", "from agents.dqn import DQN\n", {"agents/__init__.py", "agents/dqn.py"}),
        ("train.py", "from agents import dqn\n", {"agents/__init__.py", "agents/dqn.py"}),
        (
            "train.py",
            "from agents import (\n    a,  # )\n    dqn,\n)\n",
            {"agents/__init__.py", "agents/dqn.py"},
        ),
        ("train.py", "from agents \\\n  import x\nfrom utils import \\\n    y\n", {"utils.py"}),
        ("train.py", "if True: import utils\n", {"utils.py"}),
        ("train.py", "import os; import utils\n", {"utils.py"}),
        ("train.py", "def f():\n    from utils import *\n", {"utils.py"}),
        ("agents/dqn.py", "from . import nets\n", {"agents/__init__.py", "agents/nets/__init__.py"}),
        ("agents/nets/gym.py", "from ..dqn import DQN\n", {"agents/__init__.py", "agents/dqn.py"}),
        # next to the importer, as scripts of one folder import each other
        ("scripts/plot.py", "import helpers\n", {"scripts/helpers.py"}),
        # seen from a folder that is no package
        ("train.py", "import helpers\n", {"scripts/helpers.py"}),
        # named with the `src` that names of modules lack
        ("train.py", "from src.agents.dqn import DQN\n", {"agents/__init__.py", "agents/dqn.py"}),
        # in a package, `gym` is `agents.nets.gym` and nothing else
        ("train.py", "import gym\n", set()),
        ("train.py", "# import utils\nimportant = 'utils'\n", set()),
        ("train.py", "import torch.utils.data\n", set()),
        # a program that starts in the folder above `src`, which names of modules leave out
        ("train.py", "from src.utils import seed\n", {"utils.py"}),
        ("agents/dqn.py", "from src.agents import nets\n", {"agents/__init__.py", "agents/nets/__init__.py"}),
        ("agents/dqn.py", "from src import agents\n", {"agents/__init__.py"}),
        ("train.py", "from lib.utils import seed\n", set()),
        # the file beside a script, or that of the folder above: the index decides
        ("scripts/plot.py", "import utils\n", {"utils.py", "scripts/utils.py"}),
    ],
)
def test_what_an_import_line_connects(importer: str, text: str, meant: set[str]) -> None:
    """Packages on the path belong to the group, modules whose names only end in the same way do not."""
    assert together(importer, text) == meant


def test_groups_are_connected_both_ways_and_over_others() -> None:
    """A file knows its callers, and their callers."""
    files = {name: name for name in "abcde"}
    imports = {"a": {"b"}, "b": set(), "c": {"b"}, "d": {"c"}, "e": set[str]()}
    assert grouped(files, imports) == [["a", "b", "c", "d"], ["e"]]


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("importlib.import_module(args.rewards)", True),
        ("importlib.import_module('rew' + ending)", True),
        ("import_module(f'rewards.{name}')", True),
        ("__import__(settings['module'])", True),
        ("plugin = importlib.util.module_from_spec(spec)", True),
        ("runpy.run_path(path)", True),
        ("sys.modules[name].SCALE = 2", True),
        ("sys.modules.get(name)", True),
        ("importlib.import_module('rewards')", False),
        ("importlib.import_module('.rewards', __package__)", False),
        ("importlib.import_module(__name__)", False),
        ("sys.modules[__name__]", False),
        ("sys.modules['rewards'].SCALE = 2", False),
        ("named_modules[name] = net.modules()", False),
    ],
)
def test_which_files_load_modules_by_computed_names(text: str, loads: bool) -> None:
    """Code that may get any module of the project, wherever its imports lead."""
    assert glance_at(Path("a.py"), f"{text}\n".encode()).loads is loads


def test_no_import_line_takes_long() -> None:
    """A file with many `import` words and open parentheses is scanned in linear time."""
    assert glance_at(Path("a.py"), b"from x import (\n" * 20_000).imported_paths("") <= {
        "x",
        "x.from",
        "x.x",
        "x.import",
    }
