"""Checking whole groups of files in one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlint.engine.check_outcome import CheckOutcome
from rlint.engine.gc_control import GcControl
from rlint.engine.incremental.dependencies import Dependencies
from rlint.engine.incremental.query_recorder import QueryRecorder
from rlint.engine.worker import Worker
from rlint.run_data import CheckOptions, FileResult, FileTask
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram

if TYPE_CHECKING:
    from rlint.engine.cache.summary_cache import SummaryCache


def check_each(groups: Iterable[Sequence[FileTask]], options: CheckOptions) -> CheckOutcome:
    """Check whole groups, one after the other, so that the trees of one are held at a time."""
    found = CheckOutcome()
    garbage = GcControl()
    from_before = kept_summaries(options)
    for group in groups:
        worker = Worker()
        summaries = worker.summarise(group, from_before)
        found.results += checked(worker, [summaries], options, found.asked)
        if options.give_summaries:
            found.summaries.update(summaries)
        garbage.add(sum(job.size for job in group))
        garbage.collect()
    return found


def checked(
    worker: Worker, groups: Sequence[Mapping[str, ModuleSummary]], options: CheckOptions, asked: Dependencies
) -> list[FileResult]:
    """What a worker finds, with what its files ask added to `asked` where that is kept."""

    def ask(program: WholeProgram) -> QueryRecorder:
        return QueryRecorder(program, asked.of_a_group())

    return worker.check(
        groups,
        ignore_suppressions=options.ignore_suppressions,
        ask=ask if options.cache is not None else None,
    )


def kept_summaries(options: CheckOptions) -> SummaryCache | None:
    """Where summaries may be found, and go."""
    if options.cache is None:
        return None
    from rlint.engine.cache.summary_cache import SummaryCache

    return SummaryCache(options.cache)
