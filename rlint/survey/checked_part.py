"""A repository, or a part of it, checked as by `rlint check`, in a process that may end at any time."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlint.cli.request import Request
from rlint.cli.run import run
from rlint.errors import RlintError
from rlint.survey.git_objects import RemoteRepository
from rlint.survey.part_groups import ContentChangedError, PartGroups, SplitNeededError
from rlint.survey.repository_list import SurveyedRepository
from rlint.survey.result_store import bytes_of, data_of

RESOLVE, CHECK = "resolve", "check"
ANSWER, RECORD, GROUPS, KNOWN = "answer.json", "record", "groups", "known"
"""The files that a process writes to its folder, and the one that it reads there."""
_FIXED = {"fix": False, "output-format": "json", "jobs": 1}
"""Settings that no repository may change: nothing is written into it."""


def do(job: Mapping[str, Any], folder: Path) -> None:
    """Run a job in a folder of its own, and write its results there."""
    repository = SurveyedRepository(**job["repository"])
    try:
        if job["what"] == RESOLVE:
            answer: dict[str, Any] = {"commit": RemoteRepository(repository, folder).commit()}
        else:
            answer = _checked(job, repository, folder)
    except SplitNeededError as needed:
        answer = {"parts": needed.parts, "content": needed.content}
    except ContentChangedError:
        answer = {"changed": True}
    except RlintError as error:
        answer = {"error": str(error)}
    except OSError as error:
        answer = {"error": f"{error.strerror or error}"}
    (folder / ANSWER).write_text(json.dumps(answer), encoding="utf-8")


def _checked(job: Mapping[str, Any], repository: SurveyedRepository, folder: Path) -> dict[str, Any]:
    if repository.is_remote:
        top = folder / "files"
        RemoteRepository(repository, folder).extract(job["commit"], top)
    else:
        top = Path(repository.location)
        if not top.is_dir():
            raise RlintError(f"no such folder on the node {os.uname().nodename}")
    known = data_of((folder / KNOWN).read_bytes()) if (folder / KNOWN).exists() else None
    groups = PartGroups(
        job["tool"],
        known if isinstance(known, dict) else {},
        part=job["part"],
        parts=job["parts"],
        most=job["part_size"],
        content=job["content"],
    )
    os.chdir(top)
    entries = _entries(job, groups, folder / "report.json")
    relative = [_relative(each, os.getcwd() + os.sep) for each in entries]
    record = {"entries": relative, "files": groups.files, "size": groups.size}
    (folder / RECORD).write_bytes(bytes_of(record))
    (folder / GROUPS).write_bytes(bytes_of(groups.kept))
    return {"reused": groups.reused, "files": groups.files}


def _entries(job: Mapping[str, Any], groups: PartGroups, file: Path) -> list[dict[str, Any]]:
    """Return the output of `rlint check --output-format json` in the current folder."""
    request = Request(
        (".",),
        {**job["overrides"], **_FIXED},
        isolated=not job["configured"],
        output_file=file,
        quiet=True,
        no_cache=True,
        plugins=False,
        groups=groups,
    )
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        run(request)
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return entries


def _relative(entry: dict[str, Any], top: str) -> dict[str, Any]:
    """Return an entry whose files are relative to the root of the repository."""
    fix = entry["fix"]
    if fix and "other_files" in fix:
        fix = {**fix, "other_files": [_below(name, top) for name in fix["other_files"]]}
    related = [{**each, "filename": _below(each["filename"], top)} for each in entry["related"]]
    return {**entry, "filename": _below(entry["filename"], top), "related": related, "fix": fix}


def _below(name: str, top: str) -> str:
    return name.removeprefix(top)
