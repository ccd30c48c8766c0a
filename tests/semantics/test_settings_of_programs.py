"""Settings for the whole process: the files that a call such as `set_default_device` affects."""

from __future__ import annotations

import pytest

from rlint.semantics.nn.torch_settings import DEFAULT_DEVICE
from tests.project_builder import build

SETS = "import torch\ntorch.set_default_device('cuda')\n"
MAKES = "import torch\nzeros = torch.zeros(3)\n"


def described(files: dict[str, str], name: str) -> bool:
    """Whether the device is set for a file of a project."""
    program = build(files)[name].program
    is_set = program.mentions("set_default_device")
    assert program.sets(DEFAULT_DEVICE) == is_set
    return is_set


def test_a_setting_counts_for_the_program() -> None:
    """It affects the script that contains it, the files which that imports, and those that import it."""
    files = {"train.py": f"{SETS}import agent\n", "agent.py": MAKES}
    assert described(files, "train.py")
    assert described(files, "agent.py")


def test_a_setting_of_another_script_is_none() -> None:
    """Scripts in one folder are programs of their own."""
    files = {"ppo.py": SETS, "dqn.py": MAKES}
    assert described(files, "ppo.py")
    assert not described(files, "dqn.py")


def test_what_a_test_sets_up_does_not_count() -> None:
    """A library is not run by its tests."""
    files = {"agent.py": MAKES, "tests/test_agent.py": f"{SETS}import agent\n"}
    assert not described(files, "agent.py")


def test_an_imported_function_is_as_good_as_a_call() -> None:
    """`from torch import set_default_device`."""
    assert described({"train.py": "from torch import set_default_device as use\nuse('cuda')\n"}, "train.py")


@pytest.mark.parametrize(
    ("given", "moves"),
    [
        ("torch.FloatTensor", False),
        ("torch.DoubleTensor", False),
        ("'torch.DoubleTensor'", False),
        ("torch.cuda.FloatTensor", True),
        ("'torch.cuda.FloatTensor'", True),
        ("FloatTensor", False),
        ("kind", True),
        ("torch.cuda.FloatTensor if cuda else torch.FloatTensor", True),
    ],
)
def test_a_default_type_in_host_memory_keeps_the_device(given: str, moves: bool) -> None:
    """`set_default_tensor_type(torch.DoubleTensor)` only sets the dtype."""
    model = build({"train.py": f"import torch\ntorch.set_default_tensor_type({given})\n"})["train.py"]
    assert model.program.sets(DEFAULT_DEVICE) is moves
