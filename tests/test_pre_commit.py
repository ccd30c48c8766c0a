"""The hooks, run by the real pre-commit in a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fixture_folders import ROOT

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
SHIPPED = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "rlint", "rules", "fixtures")
SLOW = """\
from torch import nn
a, b = nn.Linear(2, 2), nn.Linear(2, 2)


def copy() -> None:
    a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})
"""
FIXED = SLOW.replace("v.clone()", "v")


@dataclass(frozen=True)
class Repository:
    """A repository whose commits pass through pre-commit."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the repository."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def must(self, *command: str) -> str:
        """Run a command that has to succeed."""
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self) -> subprocess.CompletedProcess[str]:
        """Try to commit everything."""
        self.must("git", "add", "-A")
        return self.run("git", "commit", "-m", "a change")


def start(folder: Path, config: dict[str, Any]) -> Repository:
    """Make a repository with these hooks installed."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
    environment = {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(folder / "home"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_NAME": "somebody" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "somebody@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    repository = Repository(folder / "project", environment)
    repository.folder.mkdir(parents=True)
    repository.must("git", "init", "-q")
    (repository.folder / ".gitignore").write_text(".rlint_cache\n")
    (repository.folder / "rlint.toml").write_text('exclude = ["vendored"]\n')
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    repository.must("pre-commit", "install")
    return repository


def refused_fixed_accepted(repository: Repository) -> None:
    """A slow program is refused, then fixed by the hook, then accepted."""
    assert repository.commit().returncode == 0  # no Python yet
    program = repository.folder / "copies of nets.py"
    program.write_text(SLOW)
    (repository.folder / "vendored").mkdir()
    (repository.folder / "vendored" / "theirs.py").write_text(SLOW)
    (repository.folder / "stub.pyi").write_text("def f(: ...\n")
    refused = repository.commit()
    said = refused.stdout + refused.stderr
    assert refused.returncode == 1, said
    assert "rlint check" in said
    assert "copies of nets.py:6:" in said
    assert "vendored" not in said
    assert "stub" not in said
    assert "files were modified by this hook" in said  # by `rlint fix`, which runs afterwards
    assert program.read_text() == FIXED
    assert (repository.folder / "vendored" / "theirs.py").read_text() == SLOW
    accepted = repository.commit()
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    assert repository.must("git", "status", "--porcelain") == ""
    assert repository.must("git", "show", "HEAD:copies of nets.py") == FIXED


def test_the_hooks_refuse_fix_and_accept(tmp_path: Path) -> None:
    """The hooks of the manifest, with this rlint instead of an installed one."""
    hooks = yaml.safe_load(MANIFEST.read_text())
    program = tmp_path / "bin" / "rlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m rlint "$@"\n')
    program.chmod(0o755)
    for hook in hooks:
        command, *arguments = hook["entry"].split()
        assert command == "rlint"
        hook.update(language="system", entry=f"{program} {' '.join(arguments)}")
    repository = start(tmp_path, {"repos": [{"repo": "local", "hooks": hooks}]})
    repository.must("pre-commit", "validate-manifest", str(MANIFEST))
    repository.must("pre-commit", "validate-config")
    refused_fixed_accepted(repository)


def test_the_manifest_follows_the_conventions() -> None:
    """Both hooks skip excluded files, run once for all files, and accept arguments."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text())}
    assert list(hooks) == ["rlint-check", "rlint-fix"]
    for hook in hooks.values():
        assert "--force-exclude" in hook["entry"]
        assert (hook["language"], hook["require_serial"], hook["args"]) == ("python", True, [])
        assert "pyi" not in hook["types_or"]


@pytest.mark.slow
def test_pre_commit_installs_a_checkout_without_torch(tmp_path: Path) -> None:
    """pre-commit clones the repository and builds a separate environment with few packages."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, checkout / name)
    hooks = [{"id": "rlint-check"}, {"id": "rlint-fix"}]
    repository = start(tmp_path, {"repos": []})
    published = Repository(checkout, repository.environment)
    published.must("git", "init", "-q")
    assert published.commit().returncode == 0
    revision = published.must("git", "rev-parse", "HEAD").strip()
    config = {"repos": [{"repo": str(checkout), "rev": revision, "hooks": hooks}]}
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    repository.must("pre-commit", "install-hooks")

    [environment] = (tmp_path / "home").glob("repo*/py_env-*")
    python = next(path for path in environment.glob("*/python*") if path.stem == "python")
    script = "import importlib.util, sys; print(*filter(importlib.util.find_spec, sys.argv[1:]))"
    names = ["rlint", "libcst", "torch", "numpy", "psutil", "pygls", "pytest"]
    assert repository.must(str(python), "-c", script, *names).split() == ["rlint", "libcst"]
    refused_fixed_accepted(repository)
