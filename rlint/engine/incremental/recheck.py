"""Recheck only the files that a change of some files affects.

A file has to be checked again if its own text has changed, or if one of the queries that its last check made
about other files has another answer now (see rlint/engine/incremental/query_recorder.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.engine.cache.keys import key_of, key_of_summary
from rlint.engine.cache.summary_cache import SummaryCache, holds_summary
from rlint.engine.gc_control import collector_off
from rlint.engine.incremental.dependencies import Dependencies
from rlint.engine.incremental.dependency_store import Before, DependencyStore
from rlint.engine.incremental.query_codec import AnswerEncoder, SummaryPart, changed_parts, from_text
from rlint.engine.incremental.query_recorder import answer_of
from rlint.engine.worker import Worker
from rlint.frozen import frozen
from rlint.plain_data import UnpackError
from rlint.run_data import FileResult, FileTask
from rlint.semantics.interprocedural.whole_program import WholeProgram

if TYPE_CHECKING:
    from rlint.engine.cache.result_cache import ResultCache
    from rlint.engine.cache.store import Cache
    from rlint.semantics.interprocedural.summary import ModuleSummary

_BYTES_HERE = 400_000
"""Bytes of source: larger work is divided among several processes, which start from the cached summaries."""


@frozen
class Rechecked:
    """The state of a group after a change: cached and new results, the queries of their files, and the group
    that remains to be checked, if that is large.
    """

    kept: list[FileResult]
    new: list[FileResult]
    queries: Dependencies
    left: list[FileTask]


class Recheck:
    """Rechecks groups with a recorded earlier state."""

    def __init__(self, cache: Cache, kept: ResultCache, *, ignore_suppressions: bool, edits: bool) -> None:
        self._cache = cache
        self._results = kept
        self._questions = DependencyStore(cache, kept.names)
        self._summaries = SummaryCache(cache.folder)
        self._ignore_suppressions = ignore_suppressions
        self._edits = edits

    def check(self, group: Sequence[FileTask]) -> Rechecked | None:
        """Recheck a group; None if it has no recorded state, or so much has changed that all of it should be
        checked.
        """
        if not _may_depend_on_each_other(group):
            return None
        before = self._questions.load(group)
        results = self._results.peek(before.key) if before is not None else None
        if before is None or results is None:
            return None
        known = {result.name: result for result in results}
        same = {
            job.name
            for job in group
            if job.codes is not None
            and job.name in known
            and self._results.is_usable(known[job.name])
            and job.name in before.queries.files
            and before.files.get(job.name, ("", ""))[1] == self._key(job)
        }
        unread = sum(job.size for job in group if not holds_summary(self._cache, job))
        if not same or unread > _BYTES_HERE:
            return None
        with collector_off():
            return self._checked(group, before, {name: known[name] for name in same})

    def _checked(
        self, group: Sequence[FileTask], before: Before, same: Mapping[str, FileResult]
    ) -> Rechecked:
        worker = Worker()
        summaries = worker.summarise(group, self._summaries)
        program = WholeProgram(summaries.values())
        concerned = self._concerned(group, before, summaries, program)
        still = {name: result for name, result in same.items() if name not in concerned}
        queries = before.queries.of(still)
        todo = {job.name: job for job in group if job.codes is not None and job.name not in still}
        if sum(job.size for job in todo.values()) > _BYTES_HERE:
            left = [job if job.name in todo else replace(job, codes=None) for job in group]
            return Rechecked(list(still.values()), [], queries, left)
        new = worker.check(
            [summaries],
            ignore_suppressions=self._ignore_suppressions,
            link=lambda _: program,
            queries=queries,
            only=todo.keys(),
            edits=self._edits,
        )
        return Rechecked(list(still.values()), new, queries, [])

    def _concerned(
        self,
        group: Sequence[FileTask],
        before: Before,
        summaries: Mapping[str, ModuleSummary],
        program: WholeProgram,
    ) -> set[str]:
        """Return the files with a query whose answer has changed."""
        changed = self._changed(group, before, summaries)
        if not changed:
            return set()
        encoder = AnswerEncoder()
        stale = {
            text
            for text, digest in before.queries.answers.items()
            if not _has_same_answer(text, digest, changed, program, encoder)
        }
        return {name for name, texts in before.queries.files.items() if not stale.isdisjoint(texts)}

    def _changed(
        self, group: Sequence[FileTask], before: Before, summaries: Mapping[str, ModuleSummary]
    ) -> frozenset[SummaryPart]:
        """Return the parts of summaries that differ in files changed, added or removed since then."""
        now = {job.name: key_of_summary(job) for job in group}
        unknown: set[SummaryPart] = set()  # no longer comparable, for instance since the cache was tidied
        old: dict[str, ModuleSummary] = {}
        new: dict[str, ModuleSummary] = {}
        for name in now.keys() | before.files.keys():
            key, _ = before.files.get(name, ("", ""))
            if key == now.get(name):
                continue
            was = self._summaries.load_by_key(key) if key else None
            if was is not None:
                old.setdefault(was.module, was)
            elif key:
                unknown.add(SummaryPart(name, ""))
            if name in summaries:
                new.setdefault(summaries[name].module, summaries[name])
        return changed_parts(old, new) | unknown

    def keep(self, group: Sequence[FileTask], key: str, queries: Dependencies) -> None:
        """Store the queries of a group's files, for results that are cached under a key."""
        if _may_depend_on_each_other(group):
            files = {
                job.name: (key_of_summary(job), self._key(job) if job.codes is not None else "")
                for job in group
            }
            self._questions.store(group, Before(key, files, queries.of(files)))

    def _key(self, job: FileTask) -> str:
        return key_of([(job, job.digest)], ignore_suppressions=self._ignore_suppressions)


def _may_depend_on_each_other(group: Collection[FileTask]) -> bool:
    """Whether findings in one file of a group can depend on another file."""
    return len(group) > 1 and all(job.judged and job.digest and job.text is None for job in group)


def _has_same_answer(
    text: str, digest: str, changed: frozenset[SummaryPart], program: WholeProgram, encoder: AnswerEncoder
) -> bool:
    try:
        question = from_text(text, program.index)
        if question is None:
            return False
        answer = encoder.encoded(answer_of(question, program))
    except (UnpackError, TypeError, AttributeError, LookupError):
        return False
    return answer.digest == digest and changed.isdisjoint(answer.summary_parts)
