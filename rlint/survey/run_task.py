"""One task, on any node: known results are read from the store, the rest is checked."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rlint.errors import RlintError
from rlint.survey import guarded
from rlint.survey.checked_part import ANSWER, CHECK, GROUPS, KNOWN, RECORD, RESOLVE
from rlint.survey.credentials import scrubbed
from rlint.survey.result_store import ResultStore, name_of_groups, name_of_result
from rlint.survey.task_data import (
    CHANGED,
    CHECKED,
    KEPT,
    LEFT,
    SPLIT,
    UNFIT,
    SurveyOptions,
    SurveyTask,
    TaskOutcome,
)
from rlint.survey.tool_digest import options_digest, tool_digest


def run_task(task: SurveyTask, options: SurveyOptions) -> TaskOutcome:
    """Check a repository or a part of it, and store the findings. Repeating it gives the same result."""
    if tool_digest() != options.tool:
        import platform

        where = f"{platform.node()} has another rlint or Python than the machine that started the survey"
        return TaskOutcome(UNFIT, reason=where)
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="rlint-survey-") as name:
            outcome = _Work(task, options, Path(name).resolve()).outcome()
    except RlintError as error:
        outcome = _left(task, str(error))
    except OSError as error:
        guarded.restart()
        outcome = _left(task, f"{error.strerror or error}")
    return replace(outcome, seconds=time.monotonic() - started)


def _left(task: SurveyTask, reason: str) -> TaskOutcome:
    return TaskOutcome(LEFT, commit=task.commit, reason=scrubbed(reason, task.repository.location))


class _JobEndedError(RlintError):
    """The process of a job did not end normally."""


class _Work:
    """The steps of a task, which share a folder."""

    def __init__(self, task: SurveyTask, options: SurveyOptions, folder: Path) -> None:
        self._task, self._options, self._folder = task, options, folder
        self._store = ResultStore(options.store)
        self._settings = options_digest(options.overrides, configured=options.configured)

    def outcome(self) -> TaskOutcome:
        task = self._task
        commit = task.commit
        if task.repository.is_remote:
            commit = commit or str(self._run(RESOLVE)["commit"])
            known = self._known(commit)
            if known is not None:
                return known
        own_part = name_of_groups(self._settings, task.repository.identity, str(task.part), str(task.parts))
        kept = self._store.read(own_part)
        if kept is not None:
            (self._folder / KNOWN).write_bytes(kept)
        answer = self._run(CHECK, commit=commit)
        if answer.get("changed"):
            return TaskOutcome(CHANGED, commit=commit)
        if "parts" in answer:
            split = TaskOutcome(SPLIT, commit=commit, parts=answer["parts"], content=answer["content"])
            if commit:
                self._store.store(
                    self._name_of_commit(commit), {"parts": split.parts, "content": split.content}
                )
            return split
        record, groups = ((self._folder / name).read_bytes() for name in (RECORD, GROUPS))
        result = name_of_result(hashlib.sha256(record).hexdigest())
        self._store.write(result, record)
        if groups != kept:
            self._store.write(own_part, groups)
        if commit:
            self._store.store(self._name_of_commit(commit), {"result": result})
        status = KEPT if answer["files"] == answer["reused"] and groups == kept else CHECKED
        return TaskOutcome(status, result, commit, reused=int(answer["reused"]))

    def _known(self, commit: str) -> TaskOutcome | None:
        """Return the results of an earlier task for a commit."""
        known = self._store.load(self._name_of_commit(commit))
        if not isinstance(known, dict):
            return None
        if "result" in known:
            result = str(known["result"])
            return TaskOutcome(KEPT, result, commit) if self._store.read(result) is not None else None
        if self._task.parts == 1 and isinstance(known.get("parts"), int):
            return TaskOutcome(SPLIT, commit=commit, parts=known["parts"], content=str(known["content"]))
        return None

    def _name_of_commit(self, commit: str) -> str:
        task, options = self._task, self._options
        parts = (
            options.tool,
            self._settings,
            commit,
            str(task.part),
            str(task.parts),
            str(options.part_size),
        )
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return f"commits/{digest[:2]}/{digest}.json.gz"

    def _run(self, what: str, **more: object) -> dict[str, Any]:
        """Run a job in a process of its own. Raises RlintError if it does not end normally."""
        task, options = self._task, self._options
        folder = self._folder / what
        folder.mkdir()
        if (self._folder / KNOWN).exists():
            (self._folder / KNOWN).rename(folder / KNOWN)
        job = {
            "what": what,
            "folder": str(folder),
            "repository": asdict(task.repository),
            "part": task.part,
            "parts": task.parts,
            "content": task.content,
            "tool": options.tool,
            "overrides": dict(options.overrides),
            "configured": options.configured,
            "part_size": options.part_size,
            "time_limit": options.time_limit,
            "memory_limit": options.memory_limit,
            **more,
        }
        ended = guarded.run(job)["ended"]
        if ended:
            crash = folder / "crash"
            said = crash.read_text(encoding="utf-8").strip().splitlines()[-1:] if crash.exists() else []
            raise _JobEndedError(": ".join([str(ended), *said]))
        answer: dict[str, Any] = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
        if "error" in answer:
            raise RlintError(answer["error"])
        for name in (RECORD, GROUPS):
            if (folder / name).exists():
                (folder / name).rename(self._folder / name)
        return answer
