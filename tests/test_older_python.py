"""Files from before Python 3.7, which use `async` as a name, are parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest

from rlint.findings import Problem
from rlint.parsing.grammar import NEWEST, Reading
from rlint.parsing.parse import parse
from workspaces import Workspace

Build = Callable[[Mapping[str, bytes]], Workspace]

PROGRAM = """\
import torch

def rollout(env, policy, steps, device):
    seen, _ = env.reset()
    for _ in range(steps):
        # async é, "async"
        mask = torch.zeros(4).to(device)
        seen = torch.from_numpy(seen).cuda(async=True)
        seen, *_ = env.step(policy(seen, mask))
"""
FIXED = "torch.zeros(4, device=device)"


def read(text: str) -> Reading:
    """The parsed text, which must be valid."""
    reading = parse(text, "program.py")
    assert isinstance(reading, Reading), reading
    return reading


@pytest.mark.parametrize(
    "text",
    [
        "x.cuda(async=True)\n",
        "def f(replay, async=True): return Wrapper(replay, async=async)\n",
        "async = 3\nasync def f(a):\n    async with a: pass\n    async for b in a: pass\n",
        "class A:\n\n    def async(self):\n        return self.async\n",
        "from tools.async import run\nimport tools.async as b\n",
        "def f():\n    global async\n    asyn_ = f'{1} async' % async\n",
        "def f(async):\n    x = f(\r\n        async\r\n    )  # é async\r\n",
        "x = f(async=1)\n\n\ndef f[T](async: T): pass\n",
    ],
)
def test_reads_async_as_a_name(text: str) -> None:
    """The tree contains the name, and the mask has the same lines and columns."""
    reading = read(text)
    shown = ast.dump(reading.module)
    assert "'async'" in shown or ".async" in shown
    assert "asyn_'" not in shown.replace("id='asyn_'", "")
    assert list(map(len, reading.mask.splitlines())) == list(map(len, text.splitlines()))
    ast.parse(reading.mask) if "[T]" not in text else None
    assert ast.dump(NEWEST.parse(text)) == shown


@pytest.mark.parametrize("text", ["x = async(1\n", "f(async=True)\ny = (\n", "f(async=True)\nx = = 1\n"])
def test_other_mistakes_are_reported(text: str) -> None:
    """Other errors are reported with their lines."""
    problem = parse(text, "program.py")
    assert isinstance(problem, Problem)
    assert problem.line is not None


def test_findings_and_fixes(workspace: Build) -> None:
    """An old file is checked and fixed like any other, and the name stays as it is."""
    program = workspace({"train.py": PROGRAM.encode()})
    assert program.fix({"RL201", "RL205"})
    fixed = program.content()["train.py"].decode()
    assert FIXED in fixed
    assert fixed.replace(FIXED, "torch.zeros(4).to(device)") == PROGRAM
