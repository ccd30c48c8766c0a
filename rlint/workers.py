"""Several processes that share the files of a run. Each keeps the trees of its own share."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Protocol

from rlint.errors import RlintError
from rlint.project.summary import ModuleSummary
from rlint.worker import Job, Result, Worker

_THRESHOLD = 200_000  # trees have no cycles worth collecting while they are in use


class WorkerDiedError(RlintError):
    """A worker process ended before its work was done (killed, or out of memory)."""


class Workers(Protocol):
    """What a run needs of its workers, be they processes or not."""

    def summarise(self, jobs: Sequence[Job]) -> dict[str, ModuleSummary]:
        """Read all files; give the summaries by name."""

    def check(self, summaries: Mapping[str, ModuleSummary], *, ignore_suppressions: bool) -> list[Result]:
        """Check all files."""

    def close(self) -> None:
        """End all processes."""


class _Here:
    """All work in this process."""

    def __init__(self) -> None:
        gc.set_threshold(_THRESHOLD, 50, 50)
        self._worker = Worker()

    def summarise(self, jobs: Sequence[Job]) -> dict[str, ModuleSummary]:
        return self._worker.summarise(jobs)

    def check(self, summaries: Mapping[str, ModuleSummary], *, ignore_suppressions: bool) -> list[Result]:
        return self._worker.check(summaries, ignore_suppressions=ignore_suppressions)

    def close(self) -> None:
        pass


class _Processes:
    """Each process gets a share of about the same size, and keeps it for both halves of the work."""

    def __init__(self, count: int) -> None:
        # forking saves each process its imports; nothing here runs threads
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._processes: list[BaseProcess] = []
        self._connections: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(  # type: ignore[attr-defined]
                target=_serve, args=(theirs, list(self._connections)), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._connections.append(ours)

    def summarise(self, jobs: Sequence[Job]) -> dict[str, ModuleSummary]:
        shares: list[list[Job]] = [[] for _ in self._connections]
        sizes = [0] * len(shares)
        by_size = sorted(((job.size, job) for job in jobs), key=lambda pair: (-pair[0], pair[1].name))
        for size, job in by_size:
            smallest = sizes.index(min(sizes))
            shares[smallest].append(job)
            sizes[smallest] += size
        for connection, share in zip(self._connections, shares, strict=True):
            _send(connection, share)
        summaries: dict[str, ModuleSummary] = {}
        for connection in self._connections:
            summaries.update(_receive(connection))  # type: ignore[call-overload]
        return summaries

    def check(self, summaries: Mapping[str, ModuleSummary], *, ignore_suppressions: bool) -> list[Result]:
        for connection in self._connections:
            _send(connection, (summaries, ignore_suppressions))
        results: list[Result] = []
        for connection in self._connections:
            results += _receive(connection)  # type: ignore[arg-type]
        return results

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.terminate()
            process.join()


def start_workers(count: int) -> Workers:
    """Start `count` processes, or do the work in this one."""
    return _Here() if count <= 1 else _Processes(count)


def _serve(connection: Connection, others: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
    for other in others:
        other.close()
    gc.set_threshold(_THRESHOLD, 50, 50)
    worker = Worker()
    try:
        connection.send(worker.summarise(connection.recv()))
        summaries, ignore_suppressions = connection.recv()
        connection.send(worker.check(summaries, ignore_suppressions=ignore_suppressions))
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
