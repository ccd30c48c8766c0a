"""Declarations in a configuration or a comment of how often code runs and on which device override every
inference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

NETWORKS = """\
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, states):
        return self.layer(states)
"""
WORKER = """\
import torch

from pkg.networks import Critic


class Worker:
    def __init__(self, device):
        self.critic = Critic()
        self.device = device

    def rate(self, row):
        value = self.critic(row)
        return value.item()

    def work(self, rows):
        for row in rows[:4]:
            self.rate(row)
"""
FILES = {"pkg/__init__.py": "", "pkg/networks.py": NETWORKS, "pkg/worker.py": WORKER}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a project, with the given settings and further files, and goes into it."""

    def build(settings: str = "", **files: str) -> Path:
        (tmp_path / "rlint.toml").write_text(f"{settings}\n")
        texts = {**FILES, **{name.replace("__", "/") + ".py": text for name, text in files.items()}}
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return build


def codes(result: Result) -> list[str]:
    """The codes of the reported findings, by line."""
    return re.findall(r"\b(RL\d{3}) ", result.output)


def test_hot_functions(run: Run, project: Callable[..., Path]) -> None:
    """A function that is declared hot is hot, and so is what it calls; the heat chain names the
    declaration.
    """
    project()
    assert codes(run("check", "--select", "RL301")) == []
    for pattern in ("pkg.worker.Worker.rate", "Worker.rate", "pkg.*.rate"):
        project(f'hot = ["{pattern}"]')
        found = run("check", "--select", "RL301")
        assert codes(found) == ["RL301"]
        assert "why hot: Worker.rate (declared hot in rlint.toml)" in found.output
        assert "warning" not in found.output
    project('hot = ["pkg.worker.Worker.work"]')
    assert "Worker.work (declared hot in rlint.toml) → Worker.rate" in run("check").output
    project()
    assert codes(run("check", "--config", 'hot = ["*.rate"]', "--select", "RL301")) == ["RL301"]


def test_cold_beats_what_is_inferred(run: Run, project: Callable[..., Path]) -> None:
    """A function that is declared cold is cold, with its loops and the functions that only it calls."""
    train = WORKER.replace(
        "for row in rows[:4]:",
        "for row in rows[:4]:\n            optimizer.step()\n            self.critic(row).mean().backward()",
    )
    project(pkg__worker=train)
    assert codes(run("check", "--select", "RL301")) == ["RL301"]
    project('cold = ["pkg.worker.Worker.work"]', pkg__worker=train)
    assert codes(run("check", "--select", "RL301")) == []
    project('cold = ["pkg.worker.Worker.rate"]', pkg__worker=train)
    assert codes(run("check", "--select", "RL301")) == []


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("def rate(self, row):", "def rate(self, row):  # rlint: hot", ["RL301"]),
        ("    def rate(", "    # rlint: hot\n    def rate(", ["RL301"]),
        ("for row in rows[:4]:", "for row in rows[:4]:  # rlint: hot", ["RL301"]),
        ("def work(self, rows):", "def work(self, rows):  # rlint: warm", ["RL301"]),
        ("def rate(self, row):", "def rate(self, row):  # rlint: cold", []),
        ("def rate(self, row):", 'def rate(self, row):\n        """# rlint: hot"""', []),
    ],
)
def test_comments(run: Run, project: Callable[..., Path], old: str, new: str, reported: list[str]) -> None:
    """A comment on a def or loop, or directly above it, has the same effect, and is not reported as
    unknown.
    """
    project(pkg__worker=WORKER.replace(old, new))
    found = run("check", "--select", "RL301,RL9")
    assert codes(found) == reported
    if reported:
        assert re.search(r"why hot: .*\(declared (hot|warm)", found.output)


def test_comments_beat_the_configuration(run: Run, project: Callable[..., Path]) -> None:
    """Comments in the code override the configuration."""
    comment = WORKER.replace("def rate(self, row):", "def rate(self, row):  # rlint: cold")
    project('hot = ["*.rate"]', pkg__worker=comment)
    assert codes(run("check", "--select", "RL301")) == []


def test_kept_results_know_what_was_declared(run: Run, project: Callable[..., Path]) -> None:
    """Changed declarations change the results, with or without a cache."""
    for settings, expected in (
        ("", []),
        ('hot = ["*.rate"]', ["RL301"]),
        ("", []),
        ('cold = ["*.rate"]', []),
    ):
        project(settings)
        for _ in range(2):
            assert codes(run("check", "--select", "RL301")) == expected


def test_what_is_declared_is_fixed(run: Run, project: Callable[..., Path]) -> None:
    """`rlint fix` sees what `rlint check` sees."""
    folder = project('hot = ["*.rate"]')
    run("fix", "--select", "RL301")
    assert "torch.no_grad()" in (folder / "pkg/worker.py").read_text()


def test_entry_points(run: Run, project: Callable[..., Path]) -> None:
    """With entry points declared, other scripts heat nothing of the library that they use."""
    bench = """\
from pkg.worker import Worker

worker = Worker("cpu")
env = make()
while True:
    env.step(0)
    worker.rate(env.reset())
"""
    project(bench=bench)
    assert "why hot: bench.py" in run("check", "--select", "RL301").output
    project('entry-points = ["main.py"]', bench=bench, main="import pkg.worker\n")
    assert codes(run("check", "--select", "RL301")) == []
    for entry in ("bench.py", "bench", "./bench.py"):
        project(f'entry-points = ["{entry}"]', bench=bench)
        assert "why hot: bench.py" in run("check", "--select", "RL301").output


def test_an_entry_point_is_called_once(run: Run, project: Callable[..., Path]) -> None:
    """An entry point does not count as a method that other code calls in each step."""
    agent = WORKER.replace("def rate(", "def act(")
    project(pkg__worker=agent)
    assert codes(run("check", "--select", "RL301")) == ["RL301"]
    project('entry-points = ["pkg.worker:Worker.act"]', pkg__worker=agent)
    assert codes(run("check", "--select", "RL301")) == []


MOVES = """\
import torch


class Agent:
    def act(self, state, device):
        state = torch.from_numpy(state).to(device)
        noise = torch.zeros(3).to(device)
        return state + noise
"""


def test_accelerators(run: Run, project: Callable[..., Path]) -> None:
    """An unspecified device is an accelerator, is none, or stays unknown."""
    found = {}
    for value in ('"auto"', "true", "false"):
        project(f'accelerator = {value}\nhot = ["*.rate"]', pkg__agent=MOVES)
        for _ in range(2):
            found[value] = codes(run("check", "--select", "RL2"))
    assert "RL205" in found['"auto"']
    assert set(found['"auto"']) <= set(found["true"])
    assert found["false"] == []


def test_names_that_mean_nothing(run: Run, project: Callable[..., Path]) -> None:
    """A declaration for code that does not exist is reported, with the most similar name."""
    project(
        'hot = ["pkg.worker.Worker.raet", "Worker.rate"]\ncold = ["setup.*"]\n'
        'entry-points = ["main.py", "pkg.worker:main"]'
    )
    warnings = [line for line in run("check").output.splitlines() if "warning" in line]
    assert warnings == [
        "warning: `pkg.worker.Worker.raet` in `hot` (rlint.toml) matches no function of the project;"
        " did you mean `pkg.worker.Worker.rate`?",
        "warning: `setup.*` in `cold` (rlint.toml) matches no function of the project",
        "warning: `main.py` in `entry-points` matches no file of the project",
        "warning: `pkg.worker:main` in `entry-points` matches no function of the project",
    ]
    project('hot = ["Worker.rate"]')
    assert "warning" not in run("check", "pkg/networks.py").output  # files next to it are analysed


def test_settings_are_shown_and_checked(run: Run, project: Callable[..., Path]) -> None:
    """`rlint config` lists declarations; an invalid one is an error in the settings."""
    project('hot = ["*.rate"]\naccelerator = true')
    shown = run("config").output
    assert 'hot = ["*.rate"]  # rlint.toml' in shown
    assert "accelerator = true  # rlint.toml" in shown
    project('accelerator = "cuda"')
    assert '`accelerator` must be true, false or "auto"' in run("check").output
    project('hot = "rate"')
    assert "`hot` must be a list of functions" in run("check").output
