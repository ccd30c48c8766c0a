"""`rlint init`: a configuration to start from, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlint.cli import cli

Invoke = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    """Run rlint in the working folder."""
    return CliRunner().invoke(cli, list(arguments))


def test_a_configuration_is_written_that_is_accepted(project: Path) -> None:
    """All lines are commented out, and each is valid when uncommented."""
    assert run("init").output == "wrote rlint.toml\n"
    text = (project / "rlint.toml").read_text()
    assert all(line.startswith("#") for line in text.splitlines() if line)
    used = "\n".join(line.removeprefix("# ") for line in text.splitlines())
    (project / "rlint.toml").write_text(used)
    shown = run("config")
    assert (shown.exit_code, "RL319" in shown.output) == (0, True), shown.output


def test_a_table_is_added_to_pyproject(project: Path) -> None:
    """Existing content is kept, including comments."""
    before = '[project]\nname = "x"  # ours'
    (project / "pyproject.toml").write_text(before)
    assert run("init").output == "added [tool.rlint] to pyproject.toml\n"
    text = (project / "pyproject.toml").read_text()
    assert text.startswith(f"{before}\n\n[tool.rlint]\n")
    assert run("config").exit_code == 0
    assert not (project / "rlint.toml").exists()


def test_a_configuration_that_is_there_is_left_alone(project: Path) -> None:
    """The error names it."""
    (project / "rlint.toml").write_text('ignore = ["RL1"]\n')
    done = run("init")
    assert done.exit_code == 2
    assert "rlint.toml configures rlint already" in done.output
    assert (project / "rlint.toml").read_text() == 'ignore = ["RL1"]\n'


@pytest.mark.parametrize(
    "before", ["", "repos:\n- repo: local\n  hooks: []\n", "# ours\nrepos:\n  - repo: local\n    hooks: []\n"]
)
def test_a_hook_is_added_next_to_others(project: Path, before: str) -> None:
    """Indented as they are."""
    path = project / ".pre-commit-config.yaml"
    if before:
        path.write_text(before)
    assert run("init", "--pre-commit").exit_code == 0
    text = path.read_text()
    assert text.count("- id: rlint-check") == 1
    starts = {line.index("- repo") for line in text.splitlines() if "- repo" in line}
    assert len(starts) == 1
    assert set(before.splitlines()) <= set(text.splitlines())


def test_a_file_without_repositories_is_left_alone(project: Path) -> None:
    """Nothing is written at all."""
    (project / ".pre-commit-config.yaml").write_text("default_stages: [commit]\n")
    done = run("init", "--pre-commit")
    assert done.exit_code == 2
    assert "no line `repos:`" in done.output
    assert not (project / "rlint.toml").exists()


def test_a_baseline_accepts_what_is_found_today(project: Path) -> None:
    """The next check is quiet."""
    text = "import torch\n\n\ndef learn(net, opt, batches, device):\n    for batch in batches:\n"
    text += "        loss = net(batch).mean() + torch.zeros(3).to(device).sum()\n"
    text += "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"
    (project / "train.py").write_text(text)
    assert run("check", "--no-cache").exit_code == 1
    done = run("init", "--baseline")
    assert done.exit_code == 0, done.output
    assert (project / "rlint-baseline.json").is_file()
    assert run("check", "--no-cache").exit_code == 0
