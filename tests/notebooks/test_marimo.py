"""Notebooks of marimo: cells are read as one module, and fixes stay inside of them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlint.cli import cli
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse

NOTEBOOK = """\
import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import gymnasium as gym
    import numpy as np
    import torch
    return gym, np, torch


@app.cell(hide_code=True)
def _(
    gym,
    np,
    torch,
):
    env = gym.make("CartPole-v1")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


    def play(steps):
        obs, _ = env.reset()
        for _ in range(steps):
            state = torch.FloatTensor(np.array(obs)).to(device)
            obs, _, done, _, _ = env.step(int(state.sum()))
            if done:
                break
    return (play,)


@app.cell
def _(play):
    play(10_000)
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A working folder with the notebook."""
    (tmp_path / "dqn.py").write_text(NOTEBOOK)
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def run(*words: str) -> Result:
    """Run rlint as a command."""
    return CliRunner().invoke(cli, [*words, "--isolated", "--no-cache", "--select", "RL112,RL205"])


def test_cells_share_what_they_define(folder: Path) -> None:
    """`torch` and `env` come from other cells; the lines are those of the file."""
    done = run("check", "--output-format", "concise", "dqn.py")
    line = NOTEBOOK[: NOTEBOOK.index("state = ")].count("\n") + 1
    assert done.stdout.startswith(f"dqn.py:{line}:")
    assert "RL205" in done.stdout


def test_a_fix_changes_its_cell_alone(folder: Path) -> None:
    """Headers, returns and everything else stay byte for byte."""
    assert run("fix", "--unsafe-fixes", "dqn.py").exit_code == 0
    after = (folder / "dqn.py").read_text()
    old = "torch.FloatTensor(np.array(obs)).to(device)"
    new = "torch.as_tensor(np.array(obs), dtype=torch.float32, device=device)"
    assert after == NOTEBOOK.replace(old, new)


def test_a_fix_that_needs_a_line_outside_of_cells_is_left_out(folder: Path) -> None:
    """marimo would drop an import at the top of the file."""
    text = NOTEBOOK.replace(
        "            if done:\n",
        "            recent.append(obs)\n            if len(recent) > 1000:\n                recent.pop(0)\n"
        "            if done:\n",
    ).replace("        obs, _ = env.reset()\n", "        obs, _ = env.reset()\n        recent = []\n")
    (folder / "dqn.py").write_text(text)
    done = run("check", "dqn.py")
    assert "RL112" in done.stdout
    assert "marimo discards code outside of cells" in done.stdout
    run("fix", "--unsafe-fixes", "--ignore", "RL205", "dqn.py")
    assert (folder / "dqn.py").read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        NOTEBOOK,
        NOTEBOOK.replace("\n", "\r\n"),
        NOTEBOOK.replace("return (play,)", "return (\n        play,\n    )"),
        NOTEBOOK.replace("def _(play):", "def _(play) -> None:  # the last: one"),
        NOTEBOOK.replace("@app.cell\ndef _(play)", "@app.cell(\n    disabled=1\n)\ndef _(play)"),
        NOTEBOOK.replace("    play(10_000)\n", "    if 0:\n        return\n    play(10_000)\n"),
        NOTEBOOK.replace("env = gym", "größe = 1  # ¼\n    env = gym"),
    ],
)
def test_the_mask_is_as_long_as_the_text(text: str) -> None:
    """It keeps its lines, and no return is left at module level."""
    reading = parse(text, "dqn.py")
    assert isinstance(reading, Reading)
    assert len(reading.mask) == len(text)
    assert [end for end in reading.mask if end in "\r\n"] == [end for end in text if end in "\r\n"]
    assert len(reading.cells) == 3
    compile(reading.mask, "dqn.py", "exec")
    names = {node.name for node in ast.walk(reading.module) if isinstance(node, ast.FunctionDef)}
    assert names == {"play"}


def test_other_files_are_read_as_they_are() -> None:
    """Without a marimo app, a function with a decorator of this name is not a cell."""
    text = "from web import app\n\n@app.cell\ndef _(a):\n    return a\n"
    reading = parse(text, "a.py")
    assert isinstance(reading, Reading)
    assert reading.mask == text
    assert reading.cells == ()
