"""Pool of worker processes that share the files of a run. Each keeps the trees of its own share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rlint.engine.check_outcome import CheckOutcome
from rlint.engine.pool.messages import WorkerSetup
from rlint.errors import RlintError
from rlint.registry import catalogue
from rlint.run_data import CheckOptions, FileTask

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

FORKS = sys.platform == "linux"
"""Whether a process can fork. That saves each of them its imports; no threads run here."""


class NoWorkersError(RlintError):
    """The system does not provide processes, or not this many."""


class WorkerDiedError(RlintError):
    """A worker process ended before its work was done (killed, or out of memory)."""


class Processes(Protocol):
    """Processes that are working or preparing."""

    def connections(self) -> list[Connection]:
        """Return the connections to each of them. Called only once."""

    def end(self) -> None:
        """Terminate them, in any state."""


class Workers:
    """A pool of processes. Groups that are too large for one process are divided by files: each process
    summarises its share, receives the summaries of the others, and checks its share, whose trees it has kept.
    The other groups are assigned whole, the largest first, to the next idle process.

    The processes prepare while files are still being discovered: `codes` are those of the rules that will be
    needed. If processes can be forked, one prepares, and forks as many as are needed, up to `most`.

    Raises NoWorkersError.
    """

    def __init__(self, most: int, codes: frozenset[str] = frozenset()) -> None:
        try:
            self._processes = _started(most, codes)
        except OSError as error:
            raise NoWorkersError(
                f"cannot start worker processes: {error.strerror or error}; try `--jobs 1`"
            ) from error
        self._connections: list[Connection] = []

    def check(self, groups: Sequence[Sequence[FileTask]], options: CheckOptions, count: int) -> CheckOutcome:
        """Read all files and check them, each with the knowledge of its group, in several processes."""
        from multiprocessing.connection import wait

        from rlint.engine.pool.scheduler import Scheduler

        every = self._processes.connections()
        self._connections = every[:count]
        for connection in every[count:]:
            connection.close()
        for connection in self._connections[: 1 if FORKS else count]:
            _send(connection, WorkerSetup(options, count if FORKS else 1, catalogue.added()))
        hand = Scheduler(groups, self._connections)
        found = CheckOutcome()
        busy: list[Connection] = []
        while True:
            for connection in self._connections:
                order = hand.next_for(connection) if connection not in busy else None
                if order is not None:
                    _send(connection, order)
                    busy.append(connection)
            if not busy:
                return found
            ready = wait(busy)
            for connection in [known for known in busy if known in ready]:
                busy.remove(connection)
                answer = _receive(connection)
                if isinstance(answer, CheckOutcome):
                    found.add(answer)
                else:
                    hand.take(connection, answer)

    def close(self) -> None:
        """End all processes."""
        for connection in self._connections:
            connection.close()
        self._processes.end()


def _started(most: int, codes: frozenset[str]) -> Processes:
    if FORKS:
        from rlint.engine.pool.forked import ForkedWorkers

        return ForkedWorkers(most, codes)
    from rlint.engine.pool.spawned import SpawnedWorkers

    return SpawnedWorkers(most, codes)


def _send(connection: Connection, message: object) -> None:
    try:
        connection.send(message)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint died unexpectedly; try `--jobs 1`") from error


def _receive(connection: Connection) -> bytes | CheckOutcome:
    try:
        answer: bytes | CheckOutcome | RlintError = connection.recv()
    except (EOFError, ConnectionResetError) as error:
        raise WorkerDiedError("a worker process of rlint died unexpectedly; try `--jobs 1`") from error
    if isinstance(answer, RlintError):
        raise answer
    return answer
