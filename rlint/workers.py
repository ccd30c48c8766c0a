"""Several processes that share the files of a run. Each keeps the trees of its own share."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Protocol

from rlint import registry
from rlint.errors import RlintError
from rlint.project.summary import ModuleSummary
from rlint.runs import Job, Result
from rlint.worker import Worker

_METHOD: str = "fork" if sys.platform == "linux" else "spawn"
"""Forking saves each process its imports; nothing here runs threads."""
_THRESHOLD = 200_000  # trees have no cycles worth collecting while they are in use

Summaries = Mapping[str, ModuleSummary]
Found = tuple[list[Result], dict[str, ModuleSummary]]
"""What was found in some files, and their summaries by name."""


class WorkerDiedError(RlintError):
    """A worker process ended before its work was done (killed, or out of memory)."""


class Workers(Protocol):
    """What a run needs of its workers, be they processes or not."""

    def check(
        self, groups: Sequence[Sequence[Job]], *, ignore_suppressions: bool, keep_summaries: bool
    ) -> Found:
        """Read all files and check them, each with the knowledge of its group. Summaries are large: they are
        given where they are to be kept.
        """

    def close(self) -> None:
        """End all processes."""


class _Here:
    """All work in this process."""

    def __init__(self) -> None:
        gc.set_threshold(_THRESHOLD, 50, 50)

    def check(
        self, groups: Sequence[Sequence[Job]], *, ignore_suppressions: bool, keep_summaries: bool
    ) -> Found:
        return _check_each(groups, ignore_suppressions=ignore_suppressions, keep_summaries=keep_summaries)

    def close(self) -> None:
        pass


class _Processes:
    """Each process gets a share of about the same size, and keeps it for both halves of the work. Groups stay
    together; those that are too large for that are shared out file by file, and their summaries with them.
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context(_METHOD)
        self._processes: list[BaseProcess] = []
        self._connections: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(  # type: ignore[attr-defined]
                target=_serve, args=(theirs, list(self._connections), registry.added()), daemon=True
            )
            with _away():
                process.start()
            theirs.close()
            self._processes.append(process)
            self._connections.append(ours)

    def check(
        self, groups: Sequence[Sequence[Job]], *, ignore_suppressions: bool, keep_summaries: bool
    ) -> Found:
        whole, shared = _shares(groups, len(self._connections))
        for connection, own, part in zip(self._connections, whole, shared, strict=True):
            _send(connection, (own, part, ignore_suppressions, keep_summaries))
        summaries: dict[str, ModuleSummary] = {}
        for connection in self._connections:
            summaries.update(_receive(connection))  # type: ignore[call-overload]
        for connection, part in zip(self._connections, shared, strict=True):
            names = {job.name for job in part}
            _send(connection, [_known(group, summaries) for group in groups if _meets(group, names)])
        results: list[Result] = []
        for connection in self._connections:
            found: Found = _receive(connection)  # type: ignore[assignment]
            results += found[0]
            summaries.update(found[1])
        return results, summaries

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.terminate()
            process.join()


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


def start_workers(count: int) -> Workers:
    """Start `count` processes, or do the work in this one."""
    return _Here() if count <= 1 else _Processes(count)


def _shares(groups: Sequence[Sequence[Job]], count: int) -> tuple[list[list[Sequence[Job]]], list[list[Job]]]:
    """For each of `count` workers, the groups that it has whole, and its files of those that are shared."""
    whole: list[list[Sequence[Job]]] = [[] for _ in range(count)]
    shared: list[list[Job]] = [[] for _ in range(count)]
    sizes = [0] * count
    total = sum(job.size for group in groups for job in group)

    def smallest(size: int) -> int:
        number = sizes.index(min(sizes))
        sizes[number] += size
        return number

    def size_of(group: Sequence[Job]) -> int:
        return sum(job.size for job in group)

    for group in sorted(groups, key=lambda group: (-size_of(group), group[0].name)):
        size = size_of(group)
        if len(group) == 1 or size * count <= total:
            whole[smallest(size)].append(group)
            continue
        for job in sorted(group, key=lambda job: (-job.size, job.name)):
            shared[smallest(job.size)].append(job)
    return whole, shared


def _meets(group: Sequence[Job], names: set[str]) -> bool:
    return any(job.name in names for job in group)


def _known(group: Iterable[Job], summaries: Summaries) -> dict[str, ModuleSummary]:
    return {job.name: summaries[job.name] for job in group if job.name in summaries}


def _check_each(groups: Iterable[Sequence[Job]], *, ignore_suppressions: bool, keep_summaries: bool) -> Found:
    """Check whole groups, one after the other, so that the trees of one are held at a time."""
    results: list[Result] = []
    kept: dict[str, ModuleSummary] = {}
    for group in groups:
        worker = Worker()
        summaries = worker.summarise(group)
        results += worker.check([summaries], ignore_suppressions=ignore_suppressions)
        if keep_summaries:
            kept.update(summaries)
    return results, kept


def _serve(
    connection: Connection, others: list[Connection], plugins: Mapping[str, tuple[registry.RuleEntry, ...]]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
    for other in others:
        other.close()
    for name, entries in plugins.items():  # a process that was not forked knows of none
        registry.add(name, entries)
    gc.set_threshold(_THRESHOLD, 50, 50)
    try:
        whole, shared, ignore_suppressions, keep_summaries = connection.recv()
        worker = Worker()
        connection.send(worker.summarise(shared))
        results, kept = _check_each(
            whole, ignore_suppressions=ignore_suppressions, keep_summaries=keep_summaries
        )
        results += worker.check(connection.recv(), ignore_suppressions=ignore_suppressions)
        connection.send((results, kept))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    except RlintError as error:
        connection.send(error)


def _send(connection: Connection, message: object) -> None:
    try:
        connection.send(message)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint ended before its time; try `--jobs 1`") from error


def _receive(connection: Connection) -> object:
    try:
        answer = connection.recv()
    except (EOFError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint ended before its time; try `--jobs 1`") from error
    if isinstance(answer, RlintError):
        raise answer
    return answer
