"""A worker process: it handles one message after another, and returns results."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from rlint.engine.check_outcome import CheckOutcome
from rlint.engine.gc_control import GcControl
from rlint.engine.group_checks import check_each, kept_summaries
from rlint.engine.pool.messages import Order, Others, Share, WorkerSetup
from rlint.engine.worker import Worker
from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.registry import catalogue
from rlint.run_data import CheckOptions
from rlint.semantics.interprocedural.summary import ModuleSummary


def serve(connections: Sequence[Connection], codes: frozenset[str]) -> None:
    """Run in a separate process and, once `WorkerSetup` gives the number of processes, in forks of it: one
    for each connection, until it is closed.
    """
    gc.disable()
    with suppress(RlintError):  # users learn about rules that cannot be loaded
        catalogue.load(codes)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent has ended
        start: WorkerSetup = _received(connections[0])
        for name, entries in start.plugins.items():
            if name not in catalogue.added():
                catalogue.add(name, entries)
        one = _divided(connections[: start.count])
        try:
            _work(one.connection, start.options)
        finally:
            one.wait()


@frozen
class _One:
    """One of several processes: its own connection, and its child processes."""

    connection: Connection
    children: list[int]

    def wait(self) -> None:
        """Wait for the child processes, which end as this process does: with their connections."""
        for child in self.children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)

    def terminate(self, *_: object) -> None:
        """Terminate at once, in any state, the children first."""
        for child in self.children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        self.wait()
        os._exit(0)


def _divided(connections: Sequence[Connection]) -> _One:
    """Fork until there are as many processes as connections: each keeps one, so that its end is noticed."""
    first = _One(connections[0], [])
    if len(connections) > 1:
        signal.signal(signal.SIGTERM, first.terminate)
    for connection in connections[1:]:
        with suppress(OSError):  # no process can be created: the connection closes, and the parent reports it
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                for other in connections:
                    if other is not connection and not other.closed:
                        other.close()
                return _One(connection, [])
            first.children.append(child)
        connection.close()
    return first


def _received(connection: Connection) -> Any:
    """Return the next message of the parent. Raises EOFError if the connection is closed, even in the middle
    of a message.
    """
    try:
        return connection.recv()
    except OSError as error:
        raise EOFError from error


def _work(connection: Connection, options: CheckOptions) -> None:
    process = _Process(options)
    try:
        while True:
            answer = process.do(_received(connection))
            if isinstance(answer, CheckOutcome):
                answer.pack()
            connection.send(answer)
    except RlintError as error:
        connection.send(error)


class _Process:
    """Keeps the trees of its share between summarising and checking it."""

    def __init__(self, options: CheckOptions) -> None:
        self._how = options
        self._worker = Worker()
        self._names: list[list[str]] = []
        self._own: dict[str, ModuleSummary] = {}
        self._garbage = GcControl()

    def do(self, order: Order) -> bytes | CheckOutcome:
        """Handle a message."""
        if isinstance(order, Share):
            return self._summarised(order)
        if isinstance(order, Others):
            return self._checked(order.packed)
        self._garbage.add(sum(job.size for job in order.group))
        self._garbage.collect()
        return check_each([order.group], self._how)

    def _summarised(self, share: Share) -> bytes:
        self._names = share.groups
        self._own = self._worker.summarise(share.jobs, kept_summaries(self._how))
        self._garbage.add(sum(job.size for job in share.jobs))
        return pickle.dumps(self._own, pickle.HIGHEST_PROTOCOL)

    def _checked(self, packed: list[bytes]) -> CheckOutcome:
        every = dict(self._own)
        while packed:  # unpacked data is not kept twice
            every.update(pickle.loads(packed.pop()))  # noqa: S301 - from a process of this very run
        groups = [{name: every[name] for name in names if name in every} for names in self._names]
        found = CheckOutcome(summaries=self._own if self._how.give_summaries else {})
        found.results += self._worker.check(
            groups,
            ignore_suppressions=self._how.ignore_suppressions,
            queries=found.queries_for(self._how),
            edits=self._how.edits,
        )
        self._worker, self._own = Worker(), {}
        return found
