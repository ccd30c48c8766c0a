"""Runs the command line in an empty working folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlint.cli import cli

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a program in it that has one fixable finding and one that is not."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rlint.toml").write_text('extend-select = ["RL900", "RL901"]\n')
    (tmp_path / "fixable.py").write_text("x = 1  # rlint: ignore[RL101]\n")
    (tmp_path / "unfixable.py").write_text("y = 2  # rlint: ignore[RL999]\n")
    (tmp_path / "clean.py").write_text("z = 3\n")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """`run("check", "x.py")` is `rlint check x.py` in that folder."""

    def invoke(*arguments: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(cli, list(arguments), input=stdin, catch_exceptions=False)

    return invoke
