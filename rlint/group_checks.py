"""Checking whole groups of files in one process."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlint.asked import Asked
from rlint.project.asking import Questions
from rlint.project.linked import Linked
from rlint.project.summary import ModuleSummary
from rlint.runs import How, Job, Result
from rlint.worker import Worker

if TYPE_CHECKING:
    from rlint.kept_summaries import KeptSummaries

COLLECTED_BYTES = 3_000_000
"""Trees are full of cycles, but all of them are in use until their group is done. So garbage is collected
once after so much source, and not while a group is being checked.
"""

FEWEST_BLOCKS = 1_500_000
"""Blocks of memory, of some hundred bytes each, up to which a process is not worth looking through."""
_blocks_before_collection = FEWEST_BLOCKS


@dataclass(slots=True)
class Found:
    """What was found in some files; where it is wanted, their summaries by name, and what they asked."""

    results: list[Result] = field(default_factory=list)
    summaries: dict[str, ModuleSummary] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)

    def add(self, other: Found) -> None:
        """Add what was found elsewhere."""
        self.results += other.results
        self.summaries.update(other.summaries)
        self.asked.update(other.asked)


def check_each(groups: Iterable[Sequence[Job]], how: How) -> Found:
    """Check whole groups, one after the other, so that the trees of one are held at a time."""
    found = Found()
    uncollected = 0
    from_before = kept_summaries(how)
    for group in groups:
        worker = Worker()
        summaries = worker.summarise(group, from_before)
        found.results += checked(worker, [summaries], how, found.asked)
        if how.give_summaries:
            found.summaries.update(summaries)
        uncollected += sum(job.size for job in group)
        if uncollected > COLLECTED_BYTES:
            gc.collect()
            uncollected = 0
    return found


def checked(
    worker: Worker, groups: Sequence[Mapping[str, ModuleSummary]], how: How, asked: Asked
) -> list[Result]:
    """What a worker finds, with what its files ask added to `asked` where that is kept."""
    every: list[Questions] = []

    def ask(linked: Linked) -> Questions:
        every.append(Questions(linked))
        return every[-1]

    found = worker.check(
        groups, ignore_suppressions=how.ignore_suppressions, ask=ask if how.cache is not None else None
    )
    for questions in every:
        asked.add(questions)
    return found


def kept_summaries(how: How) -> KeptSummaries | None:
    """Where summaries may be found, and go."""
    if how.cache is None:
        return None
    from rlint.kept_summaries import KeptSummaries

    return KeptSummaries(how.cache)


@contextmanager
def collector_off() -> Iterator[None]:
    """Without the collector of cycles, which would look again and again at all that is kept.

    What a run leaves behind counts as old afterwards, and old garbage is hardly ever collected by itself.
    So a process that runs again and again, as an editor's server does, collects it here now and then.
    """
    global _blocks_before_collection  # noqa: PLW0603 - the collector, too, is one for the whole process
    if sys.getallocatedblocks() > _blocks_before_collection:
        gc.collect()
        _blocks_before_collection = max(FEWEST_BLOCKS, 2 * sys.getallocatedblocks())
    gc.disable()
    try:
        yield
    finally:
        atexit.unregister(gc.freeze)
        atexit.register(gc.freeze)  # what is there at the end goes with the process, without a last look
        gc.freeze()  # what is there now counts as old: turned on, the collector would look at all of it
        gc.unfreeze()
        gc.enable()
