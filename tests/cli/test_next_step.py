"""The last line of `rlint check` names the command that measures the gains, if there are fixes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fixture_folders import FIXTURES

Run = Callable[..., Result]

AGENT = (FIXTURES / "concat-grown-buffer" / "before.py").read_text()
HINT = "See what a run would gain: `rlint prove -- python {}`."


@pytest.fixture
def agent(folder: Path) -> Path:
    """A program with fixable findings."""
    path = folder / "agent.py"
    path.write_text(AGENT)
    return path


def test_the_script_is_named_if_it_is_evident(run: Run, agent: Path) -> None:
    """One that can be started; else a placeholder."""
    assert run("check", "agent.py").stdout.endswith(HINT.format("SCRIPT") + "\n")
    agent.write_text(f'{AGENT}\n\nif __name__ == "__main__":\n    pass\n')
    assert run("check", "agent.py").stdout.endswith(HINT.format("agent.py") + "\n")
    renamed = agent.rename(agent.parent / "my agent.py")
    assert run("check", renamed.name).stdout.endswith(HINT.format("'my agent.py'") + "\n")


LOOP = """
import numpy as np

env = make()
obs = env.reset()
{starts}
for step in range(100_000):
    obs, reward, done, info = env.step(0)
{grows}
"""


def growing(buffers: int) -> str:
    """Return a script without functions whose loop has as many findings as there are buffers."""
    names = [f"buffer{number}" for number in range(buffers)]
    starts = "\n".join(f"{name} = np.zeros((0, 4), dtype=np.float32)" for name in names)
    grows = "\n".join(f"    {name} = np.concatenate([{name}, obs[None]])" for name in names)
    return LOOP.format(starts=starts, grows=grows)


def test_the_script_that_runs_most_findings_is_named(run: Run, folder: Path) -> None:
    """Also if its loop stands at module level."""
    for name, buffers in (("a_demo.py", 1), ("b_train.py", 4), ("c_test_run.py", 2)):
        (folder / name).write_text(growing(buffers))
    assert run("check", ".").stdout.endswith(HINT.format("b_train.py") + "\n")


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    "options",
    [
        ("--output-format", "concise"),
        ("--output-format", "json"),
        ("--statistics",),
        ("--quiet",),
        ("--diff",),
        ("--select", "RL900"),
    ],
)
def test_no_hint_where_it_is_of_no_use(run: Run, options: tuple[str, ...]) -> None:
    """Output for programs, and runs without fixes."""
    assert "rlint prove" not in run("check", *options, "agent.py").output


@pytest.mark.usefixtures("agent")
def test_fix_gives_no_hint(run: Run) -> None:
    """After fixing, there is nothing left to measure."""
    assert "rlint prove" not in run("fix", "agent.py").output
