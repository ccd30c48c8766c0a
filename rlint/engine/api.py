"""The engine: from sources to findings and, for fixes, to new texts. Writes nothing except its cache, and
does not run the code that it reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.engine.counted_once import counted_once_in_project
from rlint.engine.plan import Plan
from rlint.findings import Applicability, Confidence, Finding
from rlint.fixing.source_map import SourceMap, taken_along
from rlint.run_data import CheckOptions, FileResult, FixId, FixReport, HiddenFindings, Report, Target, Wanted
from rlint.source.files import NOTEBOOK, Source

if TYPE_CHECKING:
    from rlint.engine.cache.result_cache import ResultCache
    from rlint.engine.cache.seen_files import StatCache
    from rlint.engine.cache.store import Cache
    from rlint.engine.group_results import GroupResults
    from rlint.engine.incremental.dependencies import Dependencies
    from rlint.engine.pool.workers import Workers
    from rlint.run_data import FileTask
    from rlint.semantics.interprocedural.summary import ModuleSummary

MAX_PASSES = 50
"""Maximum number of passes for fixes that wait for one another. Usually a handful suffice."""
_BYTES_PER_PROCESS = 200_000  # bytes of source that justify one more process


def check(
    targets: Sequence[Target],
    *,
    jobs: int | None = None,
    ignore_suppressions: bool = False,
    cache: Cache | None = None,
    seen: StatCache | None = None,
    workers: Workers | None = None,
    edits: bool = True,
    confidence: Confidence = Confidence.POSSIBLE,
) -> Report:
    """Check files, with the knowledge of the whole project around them. Cached results are reused, and
    unchanged files are not read again. `workers` were started for this run alone. Without `edits`, fixes lack
    edits that LibCST would have to write: for reports that show no edits. Findings of lower confidence than
    `confidence` are left out.
    """
    with closing(workers) if workers is not None else nullcontext():
        run = _Run(targets, jobs, seen, workers, confidence)
        results = run.check_all(ignore_suppressions=ignore_suppressions, cache=cache, edits=edits)
        return run.report(results)


def check_chosen(
    targets: Sequence[Target], kept: GroupResults, *, confidence: Confidence = Confidence.POSSIBLE
) -> Report:
    """Check the groups of files that `kept` selects, in this process, as far as it has no results for
    them.
    """
    run = _Run(targets, 1, confidence=confidence)
    return run.report(run.check_chosen(kept))


def fix(
    targets: Sequence[Target],
    *,
    unsafe: bool,
    jobs: int | None = None,
    wanted: Wanted | None = None,
    confidence: Confidence = Confidence.POSSIBLE,
) -> FixReport:
    """Fix files in memory: pass after pass until nothing changes. Fixes that would leave a file unparsable
    are left out and reported. `wanted` selects the findings of a file that are fixed, each time.
    """
    return Fixer(targets, jobs=jobs, wanted=wanted, confidence=confidence).fix(unsafe=unsafe)


class Fixer:
    """Fixes the same files several times, each time from their original texts."""

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        jobs: int | None = None,
        wanted: Wanted | None = None,
        confidence: Confidence = Confidence.POSSIBLE,
    ) -> None:
        self._run = _Run(targets, jobs, confidence=confidence)
        self._wanted = wanted
        self._results = self._run.check_all(keep_summaries=True)
        self._summaries = dict(self._run.summaries)

    def fix(self, *, unsafe: bool, allowed: Callable[[FixId], bool] | None = None) -> FixReport:
        """Fix the files in memory as `fix` does, with the allowed fixes only."""
        from rlint.fixing.fix_session import FixedTexts

        run, results = self._run, dict(self._results)
        run.summaries = dict(self._summaries)
        texts = FixedTexts(lambda name: run.source(name) if run.is_checked(name) else None)
        for _ in range(MAX_PASSES):
            chosen: list[Finding] = []
            for result in results.values():
                before = texts.text_of(result.name) if _has_fixes(result, unsafe=unsafe) else None
                if before is not None:
                    named = texts.names(result.name, result.findings)
                    refused = {
                        id(f) for name, f in named.items() if allowed is not None and not allowed(name)
                    }
                    found: Sequence[Finding] = result.findings
                    wanted = self._wanted(result.name, before, found) if self._wanted else found
                    chosen += (finding for finding in wanted if id(finding) not in refused)
            changed = texts.apply(chosen, unsafe=unsafe)
            if not changed:
                break
            results.update(run.check_again(changed, texts.now, results))
        report = run.report(results, texts.now)
        hidden = sorted((f for each in results.values() for f in each.hidden), key=lambda f: f.sort_key)
        report = replace(
            report,
            problems=(*report.problems, *dict.fromkeys(texts.refused.values())),
            hidden=tuple(
                HiddenFindings(finding, in_source=True, reason="hidden by a comment") for finding in hidden
            ),
        )
        applied = sorted(texts.applied, key=lambda pair: pair[1].path)
        left = texts.named(lambda name: results[name].findings)
        removed, new = taken_along(self._first(texts.now), [name for name, _ in applied], left.values())
        return FixReport(
            report,
            tuple(finding for _, finding in applied),
            texts.changed(),
            tuple(name for name, _ in applied),
            tuple(left.get(finding) for finding in report.findings),
            tuple(removed),
            frozenset(new),
            frozenset(texts.refused),
        )

    @property
    def report(self) -> Report:
        """Return the report before any fix."""
        return self._run.report(self._results)

    def offered(self, *, unsafe: bool) -> dict[FixId, Finding]:
        """Return the findings whose fixes `fix` would apply first, by file and line."""
        found = self._first(name for name in self._results if self._run.is_checked(name))
        return {
            name: finding
            for name, finding in sorted(found.items(), key=lambda pair: pair[1].sort_key)
            if finding.fix is not None and (unsafe or finding.fix.safety is Applicability.SAFE)
        }

    def _first(self, changed: Iterable[str]) -> dict[FixId, Finding]:
        """Return the first findings of the files that fixes changed, as far as fixing needs them."""
        first: dict[FixId, Finding] = {}
        for name in sorted(changed):
            source, found = self._run.source(name), self._results[name].findings
            if source is not None:
                wanted = self._wanted(name, source.text, found) if self._wanted else found
                first.update(SourceMap(source.text).names(wanted))
        return first


def _has_fixes(result: FileResult, *, unsafe: bool) -> bool:
    return any(
        finding.fix is not None and (unsafe or finding.fix.safety is Applicability.SAFE)
        for finding in result.findings
    )


class _Run:
    """One run over a set of targets."""

    def __init__(
        self,
        targets: Sequence[Target],
        processes: int | None,
        seen: StatCache | None = None,
        workers: Workers | None = None,
        confidence: Confidence = Confidence.POSSIBLE,
    ) -> None:
        self._workers = workers
        self._confidence = confidence
        self._targets = {target.name: target for target in targets}
        self._sources: dict[str, Source] = {t.name: t.source for t in targets if t.source is not None}
        self._plan = Plan(targets, seen=seen)
        self._processes = processes
        self.summaries: dict[str, ModuleSummary] = {}

    def source(self, name: str) -> Source | None:
        """Return the source of a target, read once in this process."""
        if name not in self._sources:
            source = self._plan.read(name)
            if source is not None:
                self._sources[name] = source
        return self._sources.get(name)

    def check_all(
        self,
        *,
        ignore_suppressions: bool = False,
        keep_summaries: bool = False,
        cache: Cache | None = None,
        edits: bool = True,
    ) -> dict[str, FileResult]:
        """Check the targets, as far as the cache has no results. `check_again` needs the summaries."""
        options = CheckOptions(ignore_suppressions, keep_summaries, edits=edits)
        if cache is not None and cache.is_usable:
            results = self._check_uncached(cache, options)
        else:
            results = self._check(self._plan.groups, options, None)[0]
        return self._offered(results, {}, ignore_suppressions=ignore_suppressions)

    def check_chosen(self, kept: GroupResults) -> dict[str, FileResult]:
        """Check the requested groups, as far as no results of them are cached."""
        results: dict[str, FileResult] = {}
        new: list[Sequence[FileTask]] = []
        for group in kept.chosen(self._plan.groups):
            known = kept.load(group)
            if known is None:
                new.append(group)
            else:
                results.update((result.name, result) for result in known)
        if new:
            results.update(self._check(new, CheckOptions(), None)[0])
        for group in new:
            if self._plan.holds(group):
                kept.add(group, [results[job.name] for job in group if job.name in results])
        return self._offered(results, {})

    def _check_uncached(self, cache: Cache, options: CheckOptions) -> dict[str, FileResult]:
        """Check the groups without cached results."""
        from rlint.engine.cache.result_cache import ResultCache

        unheeded = options.ignore_suppressions
        kept = ResultCache(cache, self._targets.values(), ignore_suppressions=unheeded, edits=options.edits)
        results: dict[str, FileResult] = {}
        new: list[tuple[str | None, list[FileTask]]] = []
        for group in self._plan.groups:
            key = self._plan.key_of(group, ignore_suppressions=unheeded)
            known = kept.load(key) if key else None
            if known is None:
                new.append((key, group))
            else:
                results.update((result.name, result) for result in known)
        if new:
            self._check_new(new, results, kept, cache, options)
        return results

    def _check_new(
        self,
        new: Sequence[tuple[str | None, list[FileTask]]],
        results: dict[str, FileResult],
        kept: ResultCache,
        cache: Cache,
        options: CheckOptions,
    ) -> None:
        """Check groups with changes, add their results to `results` and cache them."""
        from rlint.engine.incremental.dependencies import Dependencies
        from rlint.engine.incremental.recheck import Recheck

        again = Recheck(cache, kept, ignore_suppressions=options.ignore_suppressions, edits=options.edits)
        queries, left = Dependencies(), []
        for _, group in new:
            part = again.check(group)
            if part is None:
                left.append(group)
                continue
            results.update((result.name, result) for result in part.kept)
            results.update((result.name, self._placed(result)) for result in part.new)
            queries.update(part.queries)
            left += [part.left] if part.left else []
        if left:
            found, others = self._check(left, options, cache)
            results.update(found)
            queries.update(others)
        for key, group in new:
            if key and self._plan.holds(group):
                kept.add(key, [results[job.name] for job in group if job.name in results])
                again.keep(group, key, queries)
        kept.save()
        cache.tidy()

    def is_checked(self, name: str) -> bool:
        """Whether a file is one of the files that the run checks."""
        return name in self._targets and self._targets[name].codes is not None

    def _offered(
        self,
        results: dict[str, FileResult],
        texts: Mapping[str, str],
        *,
        ignore_suppressions: bool = False,
    ) -> dict[str, FileResult]:
        """Return the results without findings below the requested confidence, and without fixes that the
        settings or some file of the run forbid.
        """
        if self._confidence is not Confidence.POSSIBLE:
            results = {name: result.at_least(self._confidence) for name, result in results.items()}
        results = {name: result.allowed(self._targets[name].fixability) for name, result in results.items()}
        if not any(f.fix and f.fix.needs_permission for r in results.values() for f in r.findings):
            return results
        from rlint.fixing.cross_file import CrossFilePermits

        def text_of(name: str) -> str | None:
            if name in texts:
                return texts[name]
            source = self.source(name) if name in self._targets else self._plan.read(name)
            return source.text if source is not None else None

        codes = {name: target.codes for name, target in self._targets.items()}
        permits = CrossFilePermits(
            codes, self._plan.names, text_of, respects_comments=not ignore_suppressions
        )
        return {name: permits.checked(result) for name, result in results.items()}

    def _check(
        self, groups: Sequence[Sequence[FileTask]], options: CheckOptions, cache: Cache | None
    ) -> tuple[dict[str, FileResult], Dependencies]:
        """Return the findings of groups, and the queries that their files made."""
        options = replace(options, cache=cache.folder if cache is not None else None)
        count = _process_count(groups, self._processes, cache)
        if count == 1 and self._workers is None:
            from rlint.engine.gc_control import collector_off
            from rlint.engine.group_checks import check_each

            with collector_off():
                found = check_each(groups, options)
        else:
            from rlint.engine.pool.workers import Workers

            with closing(self._workers or Workers(count)) as workers:  # they refer to many unneeded objects
                self._workers = None
                found = workers.check(groups, options, count)
            found.unpack()
        self.summaries = found.summaries
        return {result.name: self._placed(result) for result in found.results}, found.queries

    def _placed(self, result: FileResult, text: str | None = None) -> FileResult:
        """Return findings in a notebook, placed in its cells."""
        if self._targets[result.name].path.suffix != NOTEBOOK:
            return result
        from rlint.engine.cell_places import placed

        source = self.source(result.name)
        return placed(result, source, source.text if text is None else text) if source else result

    def check_again(
        self, changed: Collection[str], texts: Mapping[str, str], before: Mapping[str, FileResult]
    ) -> dict[str, FileResult]:
        """Check changed texts against the changed project, and with them the files whose fixes edit several
        files, since those may be among them. `texts` are all texts that fixes have changed.
        """
        from rlint.engine.worker import Worker

        results: dict[str, FileResult] = {}
        for group in self._plan.groups:
            if not any(job.name in changed for job in group):
                continue
            again = [
                replace(job, text=texts.get(job.name, job.text))
                for job in group
                if job.name in changed or _reaches_out(before.get(job.name))
            ]
            worker = Worker()
            self.summaries.update(worker.summarise(again))
            known = {job.name: self.summaries[job.name] for job in group if job.name in self.summaries}
            for result in worker.check([known], ignore_suppressions=False):
                results[result.name] = self._placed(result, texts.get(result.name))
        return self._offered({**before, **results}, texts) if results else results

    def report(self, results: dict[str, FileResult], texts: dict[str, str] | None = None) -> Report:
        """Return one report of the results of all files, sorted by file and line."""
        every = counted_once_in_project(f for result in results.values() for f in result.findings)
        findings = sorted(every, key=lambda finding: finding.sort_key)
        met = dict.fromkeys(p for r in results.values() for p in r.problems)  # some are about the whole run
        problems = sorted(met, key=lambda p: (p.path, p.cell.index if p.cell else 0, p.line or 0, p.message))
        checked = sum(1 for result in results.values() if result.checked)
        for result in results.values():
            if result.findings and self._plan.holds_content(result.name):
                self.source(result.name)
        sources = dict(self._sources)
        for name, text in (texts or {}).items():
            if name in sources:
                sources[name] = replace(sources[name], text=text)
        paths = {name: target.path for name, target in self._targets.items()}
        are_tests = self._plan.are_tests
        return Report(tuple(findings), tuple(problems), checked, sources, paths, are_tests=are_tests)


def _is_summary_cached(job: FileTask, cache: Cache | None) -> bool:
    """Whether a file is only read for its summary, and that summary is cached."""
    if cache is None or job.codes is not None:
        return False
    from rlint.engine.cache.summary_cache import holds_summary

    return holds_summary(cache, job)


def _reaches_out(result: FileResult | None) -> bool:
    return result is not None and any(f.fix is not None and f.fix.other_edits for f in result.findings)


def _process_count(groups: Iterable[Sequence[FileTask]], wanted: int | None, cache: Cache | None) -> int:
    """Return the default number of processes for the amount of source to read."""
    sizes = [job.size for group in groups for job in group if not _is_summary_cached(job, cache)]
    at_most = (os.cpu_count() or 1, sum(sizes) // _BYTES_PER_PROCESS + 1) if wanted is None else (wanted,)
    return max(1, min(*at_most, len(sizes) or 1))
