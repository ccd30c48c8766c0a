"""The workflow that publishes the site: its commands exist, and it uploads their output."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fixture_folders import ROOT, RULES
from rlint.cli import cli

WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / "docs/github-pages.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["build"]["steps"]


def uses(action: str) -> dict[str, Any]:
    """The one step that uses an action, whatever its version."""
    [step] = [each for each in STEPS if each.get("uses", "").partition("@")[0] == action]
    return step


def test_the_steps_build_what_is_uploaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `rlint` command runs as written, in an empty folder; all pages are in the artifact."""
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(step["run"]) for step in STEPS if "run" in step]
    assert commands[0] == ["python", "-m", "pip", "install", "."]
    assert [program for program, *_ in commands[1:]] == ["rlint"]
    for _, *arguments in commands[1:]:
        done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
    site = tmp_path / uses("actions/upload-pages-artifact")["with"]["path"]
    assert (site / "index.html").is_file()
    assert {f"{rule.code}.html" for rule in RULES} <= {page.name for page in (site / "rules").iterdir()}


def test_the_python_is_one_that_rlint_supports() -> None:
    """And it is a text: YAML reads 3.10 as the number 3.1."""
    version = uses("actions/setup-python")["with"]["python-version"]
    assert isinstance(version, str)
    assert tuple(map(int, version.split("."))) >= (3, 10)


def test_only_the_deployment_may_write() -> None:
    """The job that runs code of the repository cannot publish."""
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert "permissions" not in WORKFLOW["jobs"]["build"]
    assert WORKFLOW["jobs"]["deploy"]["needs"] == "build"
    assert WORKFLOW["jobs"]["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
