"""Qualified names: what a name in a file refers to."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of
from rlint.models.value_type import TypeTag


@pytest.mark.parametrize(
    ("setup", "used", "expected"),
    [
        ("import numpy as np", "np.concatenate", "numpy.concatenate"),
        ("from numpy import concatenate as cat", "cat", "numpy.concatenate"),
        ("import torch.nn.functional as F", "F.relu", "torch.nn.functional.relu"),
        ("from torch import nn", "nn.functional.relu", "torch.nn.functional.relu"),
        ("import torch as th\ncat = th.cat", "cat", "torch.cat"),
        ("import os.path", "os.path.join", "os.path.join"),
        ("try:\n    import numpy as np\nexcept ImportError:\n    np = None", "np.zeros", "numpy.zeros"),
        ("", "len", "builtins.len"),
        ("def len(x): return 0", "len", "train.len"),
        ("class Agent:\n    def act(self): ...", "Agent", "train.Agent"),
        ("from torch import *", "zeros", "torch.zeros"),
        ("import gym", "gym.make", "gymnasium.make"),
    ],
)
def test_a_name_is_followed_through_imports_and_aliases(setup: str, used: str, expected: str) -> None:
    """A function has one canonical name, however it was imported."""
    model = model_of(f"{setup}\nprint({used})\n")
    assert model.names.qualified(expression(model, used, last=True)) == expected


@pytest.mark.parametrize(
    "replacing",
    [
        "np.zeros = counted",
        "def f():\n    np.zeros = counted",
        "setattr(np, 'zeros', counted)",
        "del np.zeros",
    ],
)
def test_what_the_file_replaces_has_no_name_any_more(replacing: str) -> None:
    """`np.zeros` may be anything if the same file replaces it."""
    model = model_of(f"import numpy as np\n{replacing}\nprint(np.zeros, np.ones)\n")
    assert model.names.qualified(expression(model, "np.zeros", last=True)) is None
    assert model.names.qualified(expression(model, "np.ones")) == "numpy.ones"


def test_a_setting_is_no_replacement() -> None:
    """`torch.backends.cudnn.benchmark = True` is a setting, not a replaced function."""
    setting = "torch.backends.cudnn.benchmark"
    model = model_of(f"import torch\n{setting} = True\nprint({setting})\n")
    assert model.names.qualified(expression(model, setting, last=True)) == setting


@pytest.mark.parametrize(
    ("program", "used"),
    [
        ("def f(np):\n    return np.zeros(3)", "np.zeros"),
        ("import numpy as np\nnp = load()\nprint(np.zeros)", "np.zeros"),
        ("buffer = Buffer()\nprint(buffer.add)", "buffer.add"),
        ("cat = a if b else c\nprint(cat)", "cat"),
    ],
)
def test_the_value_of_a_variable_has_no_qualified_name(program: str, used: str) -> None:
    """A parameter or variable that shadows a library is not that library."""
    model = model_of(program)
    assert model.names.qualified(expression(model, used, last=True)) is None


def test_relative_imports_and_reexports_lead_to_the_definition() -> None:
    """A class is found through the package that re-exports it."""
    models = build(
        {
            "agents/__init__.py": "from .dqn import DQN\n",
            "agents/dqn.py": "class DQN:\n    def act(self, obs):\n        return 0\n",
            "train.py": "from agents import DQN\nagent = DQN()\nprint(agent)\n",
        }
    )
    model = models["train.py"]
    assert model.types.type_of(expression(model, "agent", last=True)).of == "agents.dqn.DQN"


def test_an_attribute_is_read_wherever_a_file_of_the_project_reads_it() -> None:
    """An attribute counts as read across files, on any object, and by name through `getattr`."""
    models = build(
        {
            "agent.py": "class Agent:\n    def act(self):\n        self.seen = self.kept = self.unread = 1\n",
            "train.py": "from agent import Agent\nprint(Agent().seen, getattr(Agent(), 'kept'))\n",
        }
    )
    model = models["agent.py"]
    read = [name for name in ("seen", "kept", "unread") if model.program.is_attribute_read(name)]
    assert read == ["seen", "kept"]


@pytest.mark.parametrize("folder", ["src.", ""])
def test_an_import_may_name_the_folder_of_the_source(folder: str) -> None:
    """Modules are named without a leading `src`, also if programs start in the folder above."""
    files = {
        "agents/__init__.py": "",
        "agents/dqn.py": "def act(state):\n    return state\n",
        "train.py": f"from {folder}agents.dqn import act\n\nact(1)\n",
    }
    model = build(files)["train.py"]
    call = expression(model, "act(1)")
    assert isinstance(call, ast.Call)
    assert [target.path for target in model.types.call_targets(call)] == ["agents.dqn.act"]


@pytest.mark.parametrize(
    ("package", "text", "call", "target"),
    [
        ("from .DQN import DQN", "from agents import DQN", "DQN(1)", "agents.DQN.DQN.__init__"),
        ("from .DQN import *", "from agents import DQN", "DQN(1)", "agents.DQN.DQN.__init__"),
        ("from .DQN import DQN", "from agents.DQN import DQN", "DQN(1)", "agents.DQN.DQN.__init__"),
        ("from .DQN import DQN", "from agents import DQN", "DQN.load(1)", "agents.DQN.DQN.load"),
        ("from .DQN import DQN", "from agents.DQN import helper", "helper(1)", "agents.DQN.helper"),
        ("", "from agents import DQN", "DQN.helper(1)", "agents.DQN.helper"),
        ("", "from agents import DQN", "DQN(1)", None),
    ],
)
def test_a_package_may_replace_a_module_by_what_the_module_defines(
    package: str, text: str, call: str, target: str | None
) -> None:
    """After `from .DQN import DQN`, the name `DQN` of the package is the class, not the module."""
    module = """\
        class DQN:
            def __init__(self, size):
                self.size = size

            @staticmethod
            def load(path):
                return DQN(path)


        def helper(size):
            return size
        """
    files = {"agents/__init__.py": package, "agents/DQN.py": module, "train.py": f"{text}\n\n{call}\n"}
    model = build(files)["train.py"]
    called = expression(model, call)
    assert isinstance(called, ast.Call)
    assert [each.path for each in model.types.call_targets(called)] == ([target] if target else [])


@pytest.mark.parametrize(
    ("other", "text", "target"),
    [
        ({}, "from agent import act", "search.agent.act"),
        ({}, "import agent\nact = agent.act", "search.agent.act"),
        ({"search/__init__.py": ""}, "from agent import act", "agent.act"),
        ({"main.py": "from search.train import run"}, "from agent import act", "agent.act"),
        ({"search/agent.py": ""}, "from agent import act", None),
    ],
)
def test_a_script_imports_the_adjacent_files(other: dict[str, str], text: str, target: str | None) -> None:
    """A folder that is no package holds another program, which may have files of the same names."""
    act = "def act(state):\n    return state\n"
    files = {"agent.py": act, "search/agent.py": act, "search/train.py": f"{text}\n\nact(1)\n", **other}
    model = build(files)["search/train.py"]
    call = expression(model, "act(1)")
    assert isinstance(call, ast.Call)
    assert [each.path for each in model.types.call_targets(call)] == ([target] if target else [])


def test_a_name_that_another_file_imports_is_known() -> None:
    """Names that other files may change or need are known, by name or through a star import."""
    files = {"lists.py": "WORDS = []\nOTHER = []\n", "train.py": "from lists import WORDS\n"}
    model = build(files)["lists.py"]
    assert (model.program.is_imported("WORDS"), model.program.is_imported("OTHER")) == (True, False)
    assert build({**files, "train.py": "from lists import *\n"})["lists.py"].program.is_imported("OTHER")


def test_evaluating_text_with_names_of_its_own_sees_no_locals() -> None:
    """`eval` sees the enclosing variables, unless it is passed namespaces."""
    model = model_of(
        """
        def sees(text):
            secret = 1
            return eval(text)

        def sees_nothing(text):
            secret = 1
            return eval(text, {"__builtins__": None}, {})
        """
    )
    scopes = [model.syntax.scopes[function] for function in model.syntax.of_type(ast.FunctionDef)]
    assert [model.names.is_captured("secret", scope) for scope in scopes] == [True, False]


def test_what_is_imported_by_its_own_name_is_written_so() -> None:
    """New code uses the spelling of the surrounding code, whatever other imports exist."""
    imports = "import torch\nfrom torch import nn\nfrom torch.distributions import Normal\n"
    model = model_of(f"{imports}from time import sleep as nap\nimport time\nstd = 1\n")
    place = expression(model, "1")
    assert model.names.spelled("torch.distributions.Normal", place) == "Normal"
    assert model.names.spelled("torch.distributions.Independent", place) == "torch.distributions.Independent"
    assert model.names.spelled("torch.nn.Linear", place) == "torch.nn.Linear"
    assert model.names.spelled("time.sleep", place) == "nap"


def test_a_package_that_is_imported_with_its_parts_is_spelled_by_its_name() -> None:
    """`import torch` and `import torch.utils.data` bind the same name to the same package."""
    model = model_of("import torch\nimport torch.utils.data\nprint(torch)\n")
    assert model.names.spelled("torch.as_tensor", expression(model, "torch", last=True)) == "torch.as_tensor"


HANDED_ON = {
    "tools.py": "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\n",
    "more.py": "x = 1\n",
}


@pytest.mark.parametrize(
    "imports",
    ["from tools import *\n", "from tools import *\nfrom more import *\n"],
    ids=["one", "several"],
)
def test_libraries_come_through_the_star_import_of_a_module_of_the_program(imports: str) -> None:
    """A script that imports all names of its helpers uses the libraries that they import."""
    used = "a = torch.zeros(3)\nb = np.ones(3)\nc = nn.Linear(2, 2)\nd = math.sqrt(2)\n"
    model = build({**HANDED_ON, "train.py": imports + used})["train.py"]
    called = [model.names.qualified(call.func) for call in model.syntax.of_type(ast.Call)]
    assert called == ["torch.zeros", "numpy.ones", "torch.nn.Linear", "math.sqrt"]


def test_a_library_that_is_starred_hands_on_no_other() -> None:
    """`from torch import *` does not determine `np`."""
    model = model_of("from torch import *\na = np.ones(3)\n")
    assert model.names.qualified(expression(model, "np.ones")) == "torch.np.ones"


def test_the_function_of_one_of_several_starred_modules_is_found() -> None:
    """A name that is unknown in the file is searched in all modules that it imports with a star."""
    files = {"nets.py": "def make():\n    return [1]\n", "more.py": "x = 1\n"}
    model = build({**files, "train.py": "from more import *\nfrom nets import *\na = make()\n"})["train.py"]
    assert model.types.type_of(expression(model, "make()")).tag is TypeTag.LIST
