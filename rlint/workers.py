"""Several processes that share the files of a run. Each keeps the trees of its own share."""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from rlint import registry
from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.group_checks import COLLECTED_BYTES, Found, check_each, checked, kept_summaries
from rlint.project.summary import ModuleSummary
from rlint.runs import How, Job
from rlint.worker import Worker

_METHOD: str = "fork" if sys.platform == "linux" else "spawn"
"""Forking saves each process its imports; nothing here runs threads."""


class WorkerDiedError(RlintError):
    """A worker process ended before its work was done (killed, or out of memory)."""


class Workers:
    """Some processes. Groups that are too large for one of them are shared out file by file: each summarises
    its share, gets the summaries of the others, and checks its share, whose trees it has kept. The other
    groups are handed out whole, the largest first, to whoever is free. `codes` are those of the rules that
    will be wanted: each process imports them while it waits.
    """

    def __init__(self, count: int, codes: frozenset[str] = frozenset()) -> None:
        context = multiprocessing.get_context(_METHOD)
        self._processes: list[BaseProcess] = []
        self._connections: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(  # type: ignore[attr-defined]
                target=_serve, args=(theirs, list(self._connections), registry.added(), codes), daemon=True
            )
            with _away():
                process.start()
            theirs.close()
            self._processes.append(process)
            self._connections.append(ours)

    def check(self, groups: Sequence[Sequence[Job]], how: How) -> Found:
        """Read all files and check them, each with the knowledge of its group."""
        shared, whole = _parted(groups, len(self._connections))
        shares = _shares(shared, len(self._connections))
        names = [[job.name for job in group] for group in shared]
        for connection, share in zip(self._connections, shares, strict=True):
            _send(connection, _Order(share, names, how))
        self._exchange_summaries()
        every = Found()
        left = list(reversed(whole))
        busy = list(self._connections)
        while busy:
            ready = multiprocessing.connection.wait(busy)
            for connection in [known for known in busy if known in ready]:
                found: Found = _receive(connection)  # type: ignore[assignment]
                every.add(found)
                if left:
                    _send(connection, left.pop())
                else:
                    busy.remove(connection)
        return every

    def _exchange_summaries(self) -> None:
        packed = [_receive(connection) for connection in self._connections]
        for number, connection in enumerate(self._connections):
            _send(connection, [own for other, own in enumerate(packed) if other != number])

    def close(self) -> None:
        """End all processes."""
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


@frozen
class _Order:
    """What a process does first: its share of the files of some groups, and the names of all their files."""

    share: list[Job]
    groups: list[list[str]]
    how: How


def _size(group: Sequence[Job]) -> int:
    return sum(job.size for job in group)


def _parted(groups: Sequence[Sequence[Job]], count: int) -> tuple[list[Sequence[Job]], list[Sequence[Job]]]:
    """The groups that are more than a process's fair part of the work, and all others, the largest first."""
    ordered = sorted(groups, key=lambda group: (-_size(group), group[0].name))
    total = sum(map(_size, groups))
    shared = [group for group in ordered if len(group) > 1 and _size(group) * count > total]
    return shared, [group for group in ordered if group not in shared]


def _shares(groups: Sequence[Sequence[Job]], count: int) -> list[list[Job]]:
    """The files of some groups in shares of about the same size."""
    shares: list[list[Job]] = [[] for _ in range(count)]
    sizes = [0] * count
    for group in groups:
        for job in sorted(group, key=lambda job: (-job.size, job.name)):
            number = sizes.index(min(sizes))
            sizes[number] += job.size
            shares[number].append(job)
    return shares


def _serve(
    connection: Connection,
    others: list[Connection],
    plugins: Mapping[str, tuple[registry.RuleEntry, ...]],
    codes: frozenset[str],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
    for other in others:
        other.close()
    for name, entries in plugins.items():  # a process that was not forked knows of none
        registry.add(name, entries)
    gc.disable()
    with suppress(RlintError):  # of a rule that cannot be used, whoever uses it is told
        registry.load(codes)
    try:
        order: _Order = connection.recv()
        connection.send(_share_checked(order, connection))
        uncollected = _size(order.share)
        while True:
            group: Sequence[Job] = connection.recv()
            if uncollected > COLLECTED_BYTES:
                gc.collect()
                uncollected = 0
            connection.send(check_each([group], order.how))
            uncollected += _size(group)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    except RlintError as error:
        connection.send(error)


def _share_checked(order: _Order, connection: Connection) -> Found:
    """The first half of a process's work: a share of the large groups. Summaries travel packed, so that only
    those unpack them who need them.
    """
    worker = Worker()
    own = worker.summarise(order.share, kept_summaries(order.how))
    connection.send(pickle.dumps(own, pickle.HIGHEST_PROTOCOL))
    every = {**own, **_unpacked(connection)}
    groups = [{name: every[name] for name in names if name in every} for names in order.groups]
    found = Found(summaries=own if order.how.give_summaries else {})
    found.results += checked(worker, groups, order.how, found.asked)
    return found


def _unpacked(connection: Connection) -> dict[str, ModuleSummary]:
    """The summaries of all other processes' shares."""
    every: dict[str, ModuleSummary] = {}
    for packed in connection.recv():
        every.update(pickle.loads(packed))  # noqa: S301 - from a process of this very run
    return every


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
