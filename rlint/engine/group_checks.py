"""Checking whole groups of files in one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlint.engine.check_outcome import Found
from rlint.engine.gc_control import Garbage
from rlint.engine.incremental.dependencies import Asked
from rlint.engine.incremental.query_recorder import Questions
from rlint.engine.worker import Worker
from rlint.run_data import How, Job, Result
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import Linked

if TYPE_CHECKING:
    from rlint.engine.cache.summary_cache import KeptSummaries


def check_each(groups: Iterable[Sequence[Job]], how: How) -> Found:
    """Check whole groups, one after the other, so that the trees of one are held at a time."""
    found = Found()
    garbage = Garbage()
    from_before = kept_summaries(how)
    for group in groups:
        worker = Worker()
        summaries = worker.summarise(group, from_before)
        found.results += checked(worker, [summaries], how, found.asked)
        if how.give_summaries:
            found.summaries.update(summaries)
        garbage.add(sum(job.size for job in group))
        garbage.collect()
    return found


def checked(
    worker: Worker, groups: Sequence[Mapping[str, ModuleSummary]], how: How, asked: Asked
) -> list[Result]:
    """What a worker finds, with what its files ask added to `asked` where that is kept."""

    def ask(linked: Linked) -> Questions:
        return Questions(linked, asked.of_a_group())

    return worker.check(
        groups, ignore_suppressions=how.ignore_suppressions, ask=ask if how.cache is not None else None
    )


def kept_summaries(how: How) -> KeptSummaries | None:
    """Where summaries may be found, and go."""
    if how.cache is None:
        return None
    from rlint.engine.cache.summary_cache import KeptSummaries

    return KeptSummaries(how.cache)
