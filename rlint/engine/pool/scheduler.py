"""Scheduling of processes: groups of files that are too large for one are divided, the others are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rlint.engine.pool.messages import Order, Others, Share, Whole
from rlint.run_data import FileTask
from rlint.semantics.imports.test_files import is_in_tests

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_READ, _SUMMARISED, _CHECKED = 3, 6, 10
"""The cost of a call in a file that is only read (a test, a loader), in one that is summarised, and in one
that is checked: measured over 1,100 files of five projects, where the number of calls predicts the time
better than bytes do.
"""


class Scheduler:
    """Assigns work to processes. No process waits for the summaries of the others while an undivided group is
    left to check.
    """

    def __init__(self, groups: Sequence[Sequence[FileTask]], connections: Sequence[Connection]) -> None:
        shared, whole = _parted(groups, len(connections))
        names = [[job.name for job in group] for group in shared]
        shares = _shares(shared, whole, len(connections))
        self._left = list(reversed(whole))
        self._shares = {
            connection: Share(jobs, names)
            for connection, jobs in zip(connections, shares, strict=True)
            if shared
        }
        self._missing = set(self._shares)
        self._unchecked = set(self._shares)
        self._packed: dict[Connection, bytes] = {}

    def next_for(self, connection: Connection) -> Order | None:
        """Return the next message for an idle process; None if there is none, or none yet."""
        if connection in self._shares:
            return self._shares.pop(connection)
        if connection in self._unchecked and not self._missing:
            self._unchecked.remove(connection)
            others = [packed for other, packed in self._packed.items() if other is not connection]
            if not self._unchecked:
                self._packed.clear()
            return Others(others)
        return Whole(self._left.pop()) if self._left else None

    def take(self, connection: Connection, packed: bytes) -> None:
        """Receive the summaries of a share."""
        self._packed[connection] = packed
        self._missing.remove(connection)


def _work(job: FileTask) -> int:
    """Return the approximate cost of a file."""
    if job.is_configuration:
        return 0
    if is_in_tests(job.name, job.module) or not job.judged or job.is_loader:
        return job.calls * _READ
    return job.calls * (_SUMMARISED if job.codes is None else _CHECKED)


def _total(jobs: Iterable[FileTask]) -> int:
    return sum(map(_work, jobs))


def _parted(
    groups: Sequence[Sequence[FileTask]], count: int
) -> tuple[list[Sequence[FileTask]], list[Sequence[FileTask]]]:
    """Return the groups that are more than a process's fair share of the work, and all others, the largest
    first.
    """
    ordered = sorted(groups, key=lambda group: (-_total(group), group[0].name))
    total = sum(map(_total, groups))
    shared = [group for group in ordered if len(group) > 1 and _total(group) * count > total]
    return shared, [group for group in ordered if group not in shared]


def _shares(
    shared: Sequence[Sequence[FileTask]], whole: Sequence[Sequence[FileTask]], count: int
) -> list[list[FileTask]]:
    """Return the files of divided groups in shares of about equal total work: the process that will take the
    first, and so the largest, whole group has the smallest share.
    """
    loads = [0] * count
    for group in whole:
        loads[loads.index(min(loads))] += _total(group)
    shares: list[list[FileTask]] = [[] for _ in range(count)]
    for group in shared:
        for job in sorted(group, key=lambda job: (-_work(job), job.name)):
            number = loads.index(min(loads))
            loads[number] += _work(job)
            shares[number].append(job)
    return shares
