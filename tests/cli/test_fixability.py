"""`fixable`, `unfixable`, `extend-safe-fixes`, `extend-unsafe-fixes`: which fixes the user allows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

PROGRAM = """\
import numpy as np
import torch


def collect(env, steps: int) -> np.ndarray:
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards


def learn(net, optimizer, batches, device) -> None:
    for batch in batches:
        loss = net(batch).mean() + torch.zeros(3).to(device).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


Run = Callable[..., Result]
Fixes = Callable[..., dict[str, str | None]]


@pytest.fixture
def fixes(run: Run) -> Fixes:
    """Return the applicability of each finding's fix, by code."""

    def found(*arguments: str) -> dict[str, str | None]:
        done = run("check", "--no-cache", "--exit-zero", "--output-format", "json", *arguments, "train.py")
        assert done.exit_code == 0, done.output
        return {
            each["code"]: each["fix"]["applicability"] if each["fix"] else None
            for each in json.loads(done.stdout)
        }

    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with two findings that have safe fixes."""
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(project: Path, text: str) -> None:
    """Write the configuration of the project."""
    (project / "rlint.toml").write_text(text)


@pytest.mark.usefixtures("project")
def test_all_fixes_are_allowed_by_default(fixes: Fixes) -> None:
    """Without settings, fixes are as the rules declare them."""
    assert fixes() == {"RL101": "safe", "RL205": "unsafe"}


@pytest.mark.usefixtures("project")
def test_options_choose_the_rules_whose_fixes_are_applied(fixes: Fixes) -> None:
    """Codes, prefixes and names are accepted, as in `--select`."""
    assert fixes("--unfixable", "RL1") == {"RL101": None, "RL205": "unsafe"}
    assert fixes("--fixable", "create-then-move") == {"RL101": None, "RL205": "unsafe"}
    assert fixes("--fixable", "RL2", "--extend-fixable", "RL101") == {"RL101": "safe", "RL205": "unsafe"}
    assert fixes("--fixable", "ALL", "--unfixable", "RL205") == {"RL101": "safe", "RL205": None}


def test_an_unfixable_rule_is_reported_with_the_reason_and_left_alone(project: Path, run: Run) -> None:
    """The finding remains, and says which setting withholds its fix."""
    configure(project, 'unfixable = ["RL101"]\n')
    assert "the settings disable fixes of RL101" in run("check", "--no-cache", "train.py").output
    assert run("fix", "--no-cache", "train.py").exit_code == 1
    assert "np.append" in (project / "train.py").read_text()


def test_safe_fixes_are_called_unsafe_and_unsafe_ones_safe(project: Path, fixes: Fixes, run: Run) -> None:
    """The more specific selector wins."""
    configure(project, 'extend-unsafe-fixes = ["RL1"]\n')
    assert fixes() == {"RL101": "unsafe", "RL205": "unsafe"}
    assert run("fix", "--no-cache", "train.py").exit_code == 1
    assert "np.append" in (project / "train.py").read_text()
    configure(project, 'extend-unsafe-fixes = ["RL1", "RL2"]\nextend-safe-fixes = ["RL205"]\n')
    assert fixes() == {"RL101": "unsafe", "RL205": "safe"}


def test_a_stronger_layer_changes_what_a_weaker_one_says(project: Path, fixes: Fixes) -> None:
    """The command line adds to what the file allows."""
    configure(project, 'fixable = ["RL2"]\nextend-unsafe-fixes = ["RL101", "RL205"]\n')
    assert fixes() == {"RL101": None, "RL205": "unsafe"}
    inline = ("--config", 'extend-safe-fixes = ["RL101", "RL205"]', "--extend-fixable", "RL101")
    assert fixes(*inline) == {"RL101": "safe", "RL205": "safe"}


def test_what_comes_out_of_the_cache_follows_the_settings(project: Path, run: Run) -> None:
    """Cached results are those of the rules, without the settings."""
    arguments = ("check", "--exit-zero", "--output-format", "concise", "train.py")
    assert run(*arguments).output.count("[*]") == 2, "the finding and the count"
    configure(project, 'unfixable = ["ALL"]\n')
    assert run(*arguments).output.count("[*]") == 0


def test_unknown_rules_are_an_error(project: Path, run: Run) -> None:
    """The error names the key and the file."""
    configure(project, 'unfixable = ["RL999"]\n')
    done = run("check")
    assert done.exit_code == 2
    assert "`unfixable` (rlint.toml)" in done.output


def test_config_shows_what_is_left_out_and_where_that_is_said(project: Path, run: Run) -> None:
    """`rlint config` lists the codes."""
    configure(project, 'unfixable = ["RL101"]\n')
    shown = run("config").output
    assert "unfixable" in shown
    assert "rlint.toml" in shown
