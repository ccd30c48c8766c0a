"""Several processes that share the files of a run. Each keeps the trees of its own share."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from rlint import registry
from rlint.errors import RlintError
from rlint.found import Found
from rlint.orders import Order, Others, Share, Start, Whole
from rlint.project.test_files import is_test_file
from rlint.runs import How, Job

COPIES = sys.platform == "linux"
"""Can a process become several? That saves each of them its imports; nothing here runs threads."""
_METHOD = "fork" if COPIES else "spawn"

_READ, _TOLD, _CHECKED = 4, 6, 10
"""What a call costs in a file that is only read (a test), in one that tells of others, and in one that is
checked: measured over 1,100 files of five projects, where calls tell the time better than bytes do.
"""


class WorkerDiedError(RlintError):
    """A worker process ended before its work was done (killed, or out of memory)."""


class Workers:
    """Some processes. Groups that are too large for one of them are shared out file by file: each summarises
    its share, gets the summaries of the others, and checks its share, whose trees it has kept. The other
    groups are handed out whole, the largest first, to whoever has nothing else to do.

    They get ready while their work is still looked for: `codes` are those of the rules that will be wanted.
    Where processes can be copied, one gets ready, and becomes as many as are needed, `most` of them.
    """

    def __init__(self, most: int, codes: frozenset[str] = frozenset()) -> None:
        context = multiprocessing.get_context(_METHOD)
        pipes = [context.Pipe() for _ in range(most)]
        self._connections = [ours for ours, _ in pipes]
        self._processes: list[BaseProcess] = []
        theirs = [end for _, end in pipes]
        with _away():
            for ends in [theirs] if COPIES else [[end] for end in theirs]:
                ours = self._connections if COPIES else []
                process = context.Process(target=_serve, args=(ends, ours, codes), daemon=True)  # type: ignore[attr-defined]
                process.start()
                self._processes.append(process)
        for end in theirs:
            end.close()

    def check(self, groups: Sequence[Sequence[Job]], how: How, count: int) -> Found:
        """Read all files and check them, each with the knowledge of its group, in so many processes."""
        started, self._connections = self._connections, self._connections[:count]
        for connection in started[count:]:
            connection.close()
        for connection in self._connections[: len(self._processes)]:
            _send(connection, Start(how, count if COPIES else 1, registry.added()))
        hand = _HandOut(groups, self._connections)
        every = Found()
        busy: list[Connection] = []
        while True:
            for connection in self._connections:
                order = hand.next_for(connection) if connection not in busy else None
                if order is not None:
                    _send(connection, order)
                    busy.append(connection)
            if not busy:
                return every
            ready = multiprocessing.connection.wait(busy)
            for connection in [known for known in busy if known in ready]:
                busy.remove(connection)
                answer = _receive(connection)
                if isinstance(answer, Found):
                    every.add(answer)
                else:
                    hand.take(connection, answer)

    def close(self) -> None:
        """End all processes."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.terminate()
            process.join()


class _HandOut:
    """Who is to do what. Nobody waits for the summaries of the others while a whole group is left."""

    def __init__(self, groups: Sequence[Sequence[Job]], connections: Sequence[Connection]) -> None:
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
        """What a process that has nothing to do is to do; None if there is nothing, or nothing yet."""
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
        """Take the summaries of a share."""
        self._packed[connection] = packed
        self._missing.remove(connection)


def _serve(ends: list[Connection], others: list[Connection], codes: frozenset[str]) -> None:
    """Run in another process, which alone imports what checking takes."""
    for other in others:
        other.close()
    from rlint.worker_process import serve

    serve(ends, codes)


@contextmanager
def _away() -> Iterator[None]:
    """Out of the working folder: a new Python would import what is named like its own modules from there."""
    if _METHOD == "fork":
        yield
        return
    folder = os.getcwd()
    os.chdir(os.path.dirname(os.__file__))
    try:
        yield
    finally:
        os.chdir(folder)


def _work(job: Job) -> int:
    """About how much there is to do with a file."""
    if is_test_file(job.name, job.module) or not job.judged:
        return job.calls * _READ
    return job.calls * (_TOLD if job.codes is None else _CHECKED)


def _total(jobs: Iterable[Job]) -> int:
    return sum(map(_work, jobs))


def _parted(groups: Sequence[Sequence[Job]], count: int) -> tuple[list[Sequence[Job]], list[Sequence[Job]]]:
    """The groups that are more than a process's fair part of the work, and all others, the largest first."""
    ordered = sorted(groups, key=lambda group: (-_total(group), group[0].name))
    total = sum(map(_total, groups))
    shared = [group for group in ordered if len(group) > 1 and _total(group) * count > total]
    return shared, [group for group in ordered if group not in shared]


def _shares(shared: Sequence[Sequence[Job]], whole: Sequence[Sequence[Job]], count: int) -> list[list[Job]]:
    """The files of shared groups in shares, with which all have about the same to do: who will be the first
    to take a whole group, and so the largest, has the smallest share.
    """
    loads = [0] * count
    for group in whole:
        loads[loads.index(min(loads))] += _total(group)
    shares: list[list[Job]] = [[] for _ in range(count)]
    for group in shared:
        for job in sorted(group, key=lambda job: (-_work(job), job.name)):
            number = loads.index(min(loads))
            loads[number] += _work(job)
            shares[number].append(job)
    return shares


def _send(connection: Connection, message: object) -> None:
    try:
        connection.send(message)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint ended before its time; try `--jobs 1`") from error


def _receive(connection: Connection) -> bytes | Found:
    try:
        answer: bytes | Found | RlintError = connection.recv()
    except (EOFError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint ended before its time; try `--jobs 1`") from error
    if isinstance(answer, RlintError):
        raise answer
    return answer
