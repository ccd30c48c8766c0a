"""What the environments of a program observe, by their ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlint.cli import cli
from rlint.semantics.nn.forward.environment_ids import is_id, observes_frames

STORAGE = """\
import gymnasium
import numpy as np
import torch


class Memory:
    def __init__(self, size: int, shape: tuple[int, ...]) -> None:
        self.states = np.zeros((size, *shape))
        self.place = 0

    def add(self, state: np.ndarray) -> None:
        self.states[self.place] = state
        self.place = (self.place + 1) % len(self.states)

    def sample(self, rows: np.ndarray) -> torch.Tensor:
        return torch.FloatTensor(self.states[rows])


env = gymnasium.make("ENV")
memory = Memory(100_000, env.observation_space.shape)
"""


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("CartPole-v1", False),
        ("gymnasium/Hopper-v4", False),
        ("ALE/Pong-v5", True),
        ("SeaquestNoFrameskip-v4", True),
        ("BreakoutDeterministic-v0", True),
        ("CarRacing-v2", True),
        ("Pong-ram-v0", None),
        ("highway-fast-v0", None),
    ],
)
def test_ids_name_what_is_observed(text: str, frames: bool | None) -> None:
    """Versions, packages and variants do not matter; others are unknown."""
    assert is_id(text)
    assert observes_frames(text) is frames


@pytest.mark.parametrize("text", ["CartPole", "a long -v1 text", "run-v2.pt"])
def test_other_texts_are_no_ids(text: str) -> None:
    """They say nothing."""
    assert not is_id(text)
    assert observes_frames(text) is None


@pytest.mark.parametrize(
    ("env", "named"), [("CartPole-v1", False), ("Boxes-v0", True), ("ALE/Pong-v5", True)]
)
def test_bytes_are_suggested_where_rows_may_be_frames(tmp_path: Path, env: str, named: bool) -> None:
    """Not if all environments of the program observe a few numbers."""
    (tmp_path / "memory.py").write_text(STORAGE.replace("ENV", env))
    options = ["--isolated", "--no-cache", "--select", "RL109", "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(tmp_path)])
    (found,) = json.loads(ran.output)
    assert ("np.uint8" in found["advice"]) is named
