"""What one of several processes does: it takes one order after another, and gives what was found."""

from __future__ import annotations

import gc
import pickle
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from rlint import registry
from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.garbage import Garbage
from rlint.group_checks import Found, check_each, checked, kept_summaries
from rlint.project.summary import ModuleSummary
from rlint.runs import How, Job
from rlint.worker import Worker


@frozen
class Share:
    """To summarise some files of groups that several processes share, and to give the summaries, packed: so
    they travel, and only those unpack them who need them. `groups` are the names of all files of the groups.
    """

    jobs: list[Job]
    groups: list[list[str]]


@frozen
class Others:
    """To check the files of the share, with the summaries of all other shares."""

    packed: list[bytes]


@frozen
class Whole:
    """To check a whole group."""

    group: Sequence[Job]


Order = Share | Others | Whole


def serve(
    connection: Connection,
    others: list[Connection],
    plugins: Mapping[str, tuple[registry.RuleEntry, ...]],
    codes: frozenset[str],
) -> None:
    """Run in a process of its own until the connection ends. What comes first is how all is to be done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
    for other in others:
        other.close()
    for name, entries in plugins.items():  # a process that was not forked knows of none
        registry.add(name, entries)
    gc.disable()
    with suppress(RlintError):  # of a rule that cannot be used, whoever uses it is told
        registry.load(codes)
    try:
        process = _Process(connection.recv())
        while True:
            connection.send(process.do(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    except RlintError as error:
        connection.send(error)


class _Process:
    """Keeps the trees of its share between summarising and checking it."""

    def __init__(self, how: How) -> None:
        self._how = how
        self._worker = Worker()
        self._names: list[list[str]] = []
        self._own: dict[str, ModuleSummary] = {}
        self._garbage = Garbage()

    def do(self, order: Order) -> bytes | Found:
        """Do what is ordered."""
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

    def _checked(self, packed: list[bytes]) -> Found:
        every = dict(self._own)
        for summaries in packed:
            every.update(pickle.loads(summaries))  # noqa: S301 - from a process of this very run
        groups = [{name: every[name] for name in names if name in every} for names in self._names]
        found = Found(summaries=self._own if self._how.give_summaries else {})
        found.results += checked(self._worker, groups, self._how, found.asked)
        self._worker, self._own = Worker(), {}
        return found
