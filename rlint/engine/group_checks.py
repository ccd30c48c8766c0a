"""Checking whole groups of files in one process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rlint.engine.check_outcome import CheckOutcome
from rlint.engine.gc_control import GcControl
from rlint.engine.worker import Worker
from rlint.run_data import CheckOptions, FileTask

if TYPE_CHECKING:
    from rlint.engine.cache.summary_cache import SummaryCache


def check_each(groups: Iterable[Sequence[FileTask]], options: CheckOptions) -> CheckOutcome:
    """Check whole groups, one after the other, so that the trees of only one are in memory."""
    found = CheckOutcome()
    garbage = GcControl()
    from_before = kept_summaries(options)
    for group in groups:
        worker = Worker()
        summaries = worker.summarise(group, from_before)
        found.results += worker.check(
            [summaries],
            ignore_suppressions=options.ignore_suppressions,
            queries=found.queries_for(options),
            edits=options.edits,
        )
        if options.give_summaries:
            found.summaries.update(summaries)
        garbage.add(sum(job.size for job in group))
        garbage.collect()
    return found


def kept_summaries(options: CheckOptions) -> SummaryCache | None:
    """Return the cache that summaries are read from and written to."""
    if options.cache is None:
        return None
    from rlint.engine.cache.summary_cache import SummaryCache

    return SummaryCache(options.cache)
