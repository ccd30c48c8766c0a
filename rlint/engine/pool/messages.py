"""What a process is told to do: plain data, light to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlint.frozen import frozen
from rlint.registry.catalogue import RuleEntry
from rlint.run_data import CheckOptions, FileTask


@frozen
class WorkerSetup:
    """To begin, as so many processes: the first that was started gets ready once, for all of them."""

    options: CheckOptions
    count: int
    plugins: Mapping[str, tuple[RuleEntry, ...]]
    """The rules of all plugins in use, by the name of the plugin."""


@frozen
class Share:
    """To summarise some files of groups that several processes share, and to give the summaries, packed: so
    they travel, and only those unpack them who need them. `groups` are the names of all files of the groups.
    """

    jobs: list[FileTask]
    groups: list[list[str]]


@frozen
class Others:
    """To check the files of the share, with the summaries of all other shares."""

    packed: list[bytes]


@frozen
class Whole:
    """To check a whole group."""

    group: Sequence[FileTask]


Order = Share | Others | Whole
