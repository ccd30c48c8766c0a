"""The runs of a survey in the store: each with its findings and the data for comparison with the next run."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

import rlint
from rlint.errors import RlintError
from rlint.output.survey_tallies import added
from rlint.survey.executors import Executor, LostWorkError
from rlint.survey.result_store import ResultStore
from rlint.survey.run_shard import SHARD, ShardTally, ShardTask, write_shard
from rlint.survey.survey_run import SurveyedResult

_RUNS, _INDEX = "runs", "run.json.gz"
_ATTEMPTS = 4


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """The record of an earlier run."""

    name: str
    date: str
    version: str
    settings: str
    results: Mapping[str, Sequence[str]]
    """The names of stored results, by the identity of the repository."""


def new_name() -> str:
    """Return the name of a new run; names sort by time."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{os.urandom(2).hex()}"


def date_of(name: str) -> str:
    """Return the time in the name of a run for display."""
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]} UTC"


def last_run(store: ResultStore) -> RunRecord | None:
    """Return the last completed run."""
    for name in reversed(store.folders(_RUNS)):
        known = store.load(f"{_RUNS}/{name}/{_INDEX}")
        fields = [field.name for field in dataclasses.fields(RunRecord)]
        if isinstance(known, dict) and sorted(known) == sorted(fields):
            return RunRecord(**known)
    return None


def folder_of(name: str) -> str:
    """Return the folder of a run in the store."""
    return f"{_RUNS}/{name}"


def write_run(
    url: str,
    name: str,
    results: Sequence[SurveyedResult],
    before: RunRecord | None,
    executor: Executor,
) -> ShardTally:
    """Write the findings of a run as Parquet, a file for every thousand repositories, and return their
    tallies.
    """
    tasks = []
    for number, start in enumerate(range(0, len(results), SHARD)):
        own_part = results[start : start + SHARD]
        known = [before.results.get(each.repository.identity) if before else None for each in own_part]
        tasks.append(ShardTask(url, f"{folder_of(name)}/findings-{number:05}.parquet", own_part, known))
    found = ShardTally()
    for one in _done(tasks, executor):
        found.rows += one.rows
        found.repositories += one.repositories
        added(found.rules, one.rules)
    for rule in found.rules.values():
        rule.places = Counter(dict(sorted(rule.places.items(), key=lambda each: (-each[1], each[0]))))
    return found


def finish_run(store: ResultStore, name: str, settings: str, results: Sequence[SurveyedResult]) -> None:
    """Record that a run is complete: the next one is compared with it."""
    known = {each.repository.identity: each.results for each in results if not each.reason}
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    record = RunRecord(name, date, rlint.__version__, settings, known)
    store.store(f"{folder_of(name)}/{_INDEX}", dataclasses.asdict(record))


def _done(tasks: Sequence[ShardTask], executor: Executor) -> list[ShardTally]:
    """Run tasks, repeat lost ones, and return their results, in order."""
    found: dict[int, ShardTally] = {}
    attempts: Counter[int] = Counter()
    running: dict[object, int] = {}
    left = list(range(len(tasks)))
    while left or running:
        while left and len(running) < 2 * executor.slots:
            number = left.pop(0)
            attempts[number] += 1
            running[executor.submit(write_shard, tasks[number])] = number
        for ticket, outcome in executor.finished():
            number = running.pop(ticket)
            if not isinstance(outcome, LostWorkError):
                found[number] = outcome
            elif attempts[number] < _ATTEMPTS:
                left.append(number)
            else:
                raise RlintError(f"the findings cannot be written: {outcome}")
    return [found[number] for number in range(len(tasks))]
