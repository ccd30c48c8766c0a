"""`rlint fix --interactive`: nothing is changed without consent."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlint.cli import cli

BEFORE = """\
import numpy as np


def first(env, steps: int) -> np.ndarray:
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards


def second(env, steps: int) -> np.ndarray:
    lengths = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        lengths = np.append(lengths, np.float32(reward))
    return lengths
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with two findings of one rule."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(BEFORE)
    return path


def fix(answers: str, *arguments: str) -> Result:
    """Run the command, with a line of input for each letter."""
    given = "".join(f"{letter}\n" for letter in answers)
    return CliRunner().invoke(cli, ["fix", "--isolated", "--interactive", *arguments], input=given)


def fixed(program: Path) -> list[str]:
    """The variables whose growth was fixed."""
    text = program.read_text()
    return [name for name in ("rewards", "lengths") if f"{name}_parts.append" in text]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("yn", ["rewards"]),
        ("ny", ["lengths"]),
        ("a", ["rewards", "lengths"]),
        ("s", []),
        ("yq", ["rewards"]),
        ("q", []),
        ("?yn", ["rewards"]),
    ],
)
def test_what_is_agreed_to_is_fixed(program: Path, answers: str, expected: list[str]) -> None:
    """Each fix is shown with its difference before the question."""
    done = fix(answers)
    assert fixed(program) == expected, done.output
    assert "[1 of 2] apply this fix?" in done.output
    assert "rewards_parts.append" in done.output


@pytest.mark.parametrize("answers", ["yc", "y", ""])
def test_cancelling_changes_nothing(program: Path, answers: str) -> None:
    """So does the end of the input."""
    done = fix(answers)
    assert done.exit_code == 2
    assert "nothing was changed" in done.output
    assert program.read_text() == BEFORE


@pytest.mark.parametrize("arguments", [("-",), ("--diff",), ("--verify-with", "true")])
def test_what_cannot_be_queried_is_refused(program: Path, arguments: tuple[str, ...]) -> None:
    """With a clear message."""
    done = fix("y", *arguments)
    assert done.exit_code == 2
    assert "--interactive" in done.output
    assert program.read_text() == BEFORE
