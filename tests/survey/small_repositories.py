"""Small repositories for tests, and the output of `rlint check` for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rlint.survey.repository_list import SurveyedRepository
from rlint.survey.result_store import ResultStore
from rlint.survey.run_shard import entries_of
from rlint.survey.survey_run import SurveyedResult
from rlint.survey.task_data import SurveyOptions
from rlint.survey.tool_digest import tool_digest

GROWS = """import numpy as np


class Buffer{number}:
    def __init__(self):
        self.rows = np.zeros((0, {number}))

    def add(self, row):
        self.rows = np.concatenate([self.rows, row[None]])


def train(env, policy):
    buffer = Buffer{number}()
    row = env.reset()
    for step in range(10_000):
        row, reward, done, info = env.step(policy(row))
        buffer.add(row)
"""
MOVES = """import torch


def train(env, net, device):
    state = env.reset()
    for step in range({number}):
        noise = torch.zeros(4).to(device)
        state, reward, done, info = env.step(net(state) + noise)
"""
CLEAN = "limit = {number}\n"
BROKEN = "def f(:\n"


def make(folder: Path, number: int, texts: Sequence[str] = (GROWS, MOVES, CLEAN)) -> Path:
    """Write a repository whose content depends on a number."""
    top = folder / f"repository-{number:03}"
    top.mkdir(parents=True)
    for index, text in enumerate(texts):
        (top / f"module_{index}.py").write_text(text.replace("{number}", str(number + 1)), encoding="utf-8")
    return top


def options(store: Path, **more: Any) -> SurveyOptions:
    """Return options with a store of the test's own."""
    return SurveyOptions(str(store), tool_digest(), **more)


def checked(top: Path, *more: str) -> str:
    """Return the output of `rlint check` for a repository."""
    command = [sys.executable, "-m", "rlint", "check", "--output-format", "json", "--no-cache", *more]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def checked_here(top: Path, file: Path) -> str:
    """Return the same, by rlint in this process, which is fast for a hundred of them."""
    from rlint.cli import main

    before = os.getcwd()
    os.chdir(top)
    command = ["check", "--output-format", "json", "--no-cache", "--isolated", "-j", "1", "-q"]
    try:
        with pytest.raises(SystemExit) as end:
            main([*command, "-o", str(file)])
    finally:
        os.chdir(before)
    assert end.value.code in (0, 1)
    return file.read_text(encoding="utf-8")


def as_printed(store: ResultStore, result: SurveyedResult) -> str:
    """Return the stored findings of a repository as `rlint check` prints them."""
    entries, _, _ = entries_of(store, result.results)
    return json.dumps(placed(entries, os.path.realpath(result.repository.location)), indent=2) + "\n"


def placed(entries: Sequence[dict[str, Any]], top: str) -> list[dict[str, Any]]:
    """Return entries whose files are named by absolute paths."""
    found = []
    for entry in entries:
        fix = entry["fix"]
        if fix and "other_files" in fix:
            fix = {**fix, "other_files": [f"{top}/{name}" for name in fix["other_files"]]}
        related = [{**each, "filename": f"{top}/{each['filename']}"} for each in entry["related"]]
        found.append({**entry, "filename": f"{top}/{entry['filename']}", "related": related, "fix": fix})
    return found


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed author."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    command = ["git", *who, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Turn a folder into a git repository, or add a commit, and return the commit's name."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=m")
    return git(folder, "rev-parse", "HEAD")


def remote(folder: Path, revision: str = "") -> SurveyedRepository:
    """Return a repository that is fetched by its URL."""
    return SurveyedRepository(folder.as_uri(), folder.as_uri(), revision, is_remote=True)
