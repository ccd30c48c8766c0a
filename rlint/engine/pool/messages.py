"""Messages to worker processes: plain data, cheap to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlint.frozen import frozen
from rlint.registry.catalogue import RuleEntry
from rlint.run_data import CheckOptions, FileTask


@frozen
class WorkerSetup:
    """The number of processes to start: the first process prepares once, for all of them."""

    options: CheckOptions
    count: int
    plugins: Mapping[str, tuple[RuleEntry, ...]]
    """The rules of all plugins in use, by the name of the plugin."""


@frozen
class Share:
    """Summarise some files of groups that several processes share, and return the summaries, packed: they are
    sent packed, and only processes that need them unpack them. `groups` are the names of all files of the
    groups.
    """

    jobs: list[FileTask]
    groups: list[list[str]]


@frozen
class Others:
    """Check the files of the share, with the summaries of all other shares."""

    packed: list[bytes]


@frozen
class Whole:
    """Check a whole group."""

    group: Sequence[FileTask]


Order = Share | Others | Whole
