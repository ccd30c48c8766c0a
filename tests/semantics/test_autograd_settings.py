"""Files that may enable or disable autograd for code that runs later."""

from __future__ import annotations

import pytest

from rlint.semantics.nn.torch_settings import GRAD_MODE
from tests.project_builder import build


def sets_mode(text: str) -> bool:
    """Whether a program of one file sets the autograd mode."""
    return build({"train.py": f"import torch\n{text}"})["train.py"].program.sets(GRAD_MODE)


@pytest.mark.parametrize(
    "text",
    [
        "def toggle(on):\n    torch.set_grad_enabled(on)\n",
        "switch = torch.set_grad_enabled\n",
        "from torch import set_grad_enabled as switch\nswitch(False)\n",
        "getattr(torch, 'set_grad_enabled')(False)\n",
        "torch._C._set_grad_enabled(False)\n",
        "class Off:\n    def __enter__(self):\n        m = torch.no_grad()\n        m.__enter__()\n",
        "def enter(stack):\n    stack.enter_context(torch.no_grad())\n",
        "def rows(loader):\n    with torch.no_grad():\n        yield from loader\n",
    ],
)
def test_code_that_leaves_autograd_turned(text: str) -> None:
    """The mode lasts beyond the statement."""
    assert sets_mode(text)


@pytest.mark.parametrize(
    "text",
    [
        "def run(net, x, on):\n    with torch.set_grad_enabled(on):\n        return net(x)\n",
        "@torch.no_grad()\ndef run(net, x):\n    return net(x)\n",
        "@torch.no_grad()\ndef rows(loader):\n    yield from loader\n",
        "def run(net, x, off, other):\n    with torch.no_grad() if off else other:\n        return net(x)\n",
        "from contextlib import contextmanager\n@contextmanager\ndef frozen():\n"
        "    with torch.no_grad():\n        yield\n",
        "class Lock:\n    def __enter__(self):\n        return self\n\nwith torch.no_grad():\n    pass\n",
    ],
)
def test_code_that_turns_autograd_for_its_own_statements(text: str) -> None:
    """The mode ends with the block or the function."""
    assert not sets_mode(text)


def test_the_files_of_a_program_count_together() -> None:
    """A loop may call code of another file."""
    files = {
        "train.py": "import torch\nimport helper\n",
        "helper.py": "import torch\ndef toggle(on):\n    torch.set_grad_enabled(on)\n",
        "other.py": "import torch\n",
    }
    models = build(files)
    assert models["train.py"].program.sets(GRAD_MODE)
    assert not models["other.py"].program.sets(GRAD_MODE)
