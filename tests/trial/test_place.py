"""What a verification command sees of the copy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlint.trial.place import TrialPlace


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package in the root of a project."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").touch()
    return tmp_path


def paths_of(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first folder on Python's path, in a copy of the project with a fixed file of its package."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    found = TrialPlace(project, Path()).environment(Path("/copy"), [project / "agents" / "dqn.py"])
    return found.get("PYTHONPATH", "").split(os.pathsep)


@pytest.mark.parametrize(("adjacent", "expected"), [("train", "/copy"), ("test", "/copy"), ("queue", "")])
def test_the_copy_comes_first_unless_it_hides_modules_of_python(
    project: Path, monkeypatch: pytest.MonkeyPatch, adjacent: str, expected: str
) -> None:
    """A package `test` hides nothing but Python's own tests, which no program imports; `queue` does."""
    (project / adjacent).mkdir()
    (project / adjacent / "__init__.py").touch()
    assert paths_of(project, monkeypatch) == [expected.replace("/copy", str(Path("/copy")))]
