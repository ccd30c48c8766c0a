"""A shard of a run's repositories: their findings as one Parquet file, and their tallies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlint.errors import RlintError
from rlint.output.survey_tallies import RepositoryTally, Tallies, add_changes, added, tally
from rlint.survey.findings_table import row_of, write_table
from rlint.survey.merged_parts import ReportEntry, merged
from rlint.survey.result_store import ResultStore
from rlint.survey.survey_run import SurveyedResult

SHARD = 1_000
"""Number of repositories in one file."""
_BATCH = 5_000  # rows that are written at once


@dataclass(frozen=True)
class ShardTask:
    """Some repositories, with the names of the last run's results for each (None: it did not include it)."""

    store: str = field(repr=False)
    file: str
    results: Sequence[SurveyedResult]
    before: Sequence[Sequence[str] | None]


@dataclass
class ShardTally:
    """The tallies of the repositories in a shard."""

    rows: int = 0
    rules: Tallies = field(default_factory=dict)
    repositories: list[RepositoryTally] = field(default_factory=list)


def write_shard(task: ShardTask) -> ShardTally:
    """Write the findings of a shard, and return their tallies. Repeating it gives the same result."""
    found = ShardTally()
    store = ResultStore(task.store)
    with store.open_to_write(task.file) as file:
        found.rows = write_table(file, _batches(task, store, found))
    return found


def entries_of(store: ResultStore, names: Sequence[str]) -> tuple[list[ReportEntry], int, int]:
    """Return the findings of a repository from its parts, with the number of files and bytes checked.

    Raises RlintError if one of them is not in the store any more.
    """
    records = [store.load(name) for name in names]
    if not all(isinstance(record, dict) for record in records):
        raise RlintError(f"{store.address(names[0])}: is missing or damaged; run the survey again")
    entries = merged([record["entries"] for record in records])
    return entries, sum(one["files"] for one in records), sum(one["size"] for one in records)


def _batches(task: ShardTask, store: ResultStore, found: ShardTally) -> Iterator[Sequence[dict[str, Any]]]:
    """Yield the rows of all repositories, counting them."""
    rows: list[dict[str, Any]] = []
    for result, before in zip(task.results, task.before, strict=True):
        shown = result.repository.shown
        one = RepositoryTally(shown, result.commit, reason=result.reason, seconds=result.seconds)
        found.repositories.append(one)
        if result.reason:
            continue
        entries, one.files, one.size = entries_of(store, result.results)
        rules = tally(shown, entries)
        if before is not None:
            one.new, one.removed = _changes(store, rules, before, result.results, entries)
        one.findings = sum(each.findings for each in rules.values())
        one.high = sum(each.impacts["high"] for each in rules.values())
        one.fixable = sum(each.findings - each.fixes["none"] for each in rules.values())
        one.problems = len(entries) - one.findings
        added(found.rules, rules)
        rows += [row_of(shown, result.commit, entry) for entry in entries]
        if len(rows) >= _BATCH:
            yield rows
            rows = []
    yield rows


def _changes(
    store: ResultStore,
    rules: Tallies,
    before: Sequence[str],
    names: Sequence[str],
    entries: Sequence[ReportEntry],
) -> tuple[int | None, int | None]:
    """Return how many findings are new, and how many have gone."""
    if list(before) == list(names):
        return 0, 0
    try:
        earlier, _, _ = entries_of(store, before)
    except RlintError:  # deleted meanwhile
        return None, None
    return add_changes(rules, earlier, entries)
