"""Sources in, findings out; and for fixes, new texts. Writes nothing but its cache, and runs nothing that it
reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.files import NOTEBOOK, Source, read_source
from rlint.findings import Finding, Problem, Safety
from rlint.plan import Plan
from rlint.runs import Changed, FixId, FixReport, Hidden, Report, Result, Target, Wanted

if TYPE_CHECKING:
    from rlint.cache import Cache
    from rlint.project.summary import ModuleSummary
    from rlint.runs import Job

MAX_PASSES = 50
"""So often fixes that wait for one another are tried again. A handful is usual."""
_BYTES_PER_PROCESS = 200_000  # of source that justify one more process


def check(
    targets: Sequence[Target],
    *,
    jobs: int | None = None,
    ignore_suppressions: bool = False,
    cache: Cache | None = None,
) -> Report:
    """Check files, with what is known of the whole project around them. What the cache knows is not done
    again.
    """
    run = _Run(targets, jobs)
    return run.report(run.check_all(ignore_suppressions=ignore_suppressions, cache=cache))


def fix(
    targets: Sequence[Target], *, unsafe: bool, jobs: int | None = None, wanted: Wanted | None = None
) -> FixReport:
    """Fix files in memory: pass after pass until nothing changes. Files that would not parse any more
    are left as they were and reported. `wanted` chooses the findings of a file that are fixed, in each pass.
    """
    return Fixer(targets, jobs=jobs, wanted=wanted).fix(unsafe=unsafe)


class Fixer:
    """Fixes the same files several times, each time from their texts as they were read."""

    def __init__(
        self, targets: Sequence[Target], *, jobs: int | None = None, wanted: Wanted | None = None
    ) -> None:
        self._run = _Run(targets, jobs)
        self._wanted = wanted
        self._results = self._run.check_all(keep_summaries=True)
        self._summaries = dict(self._run.summaries)

    def fix(self, *, unsafe: bool, allowed: Callable[[FixId], bool] | None = None) -> FixReport:
        """Fix the files in memory as `fix` does, with the allowed fixes alone."""
        from rlint import fixes
        from rlint.origins import Origins

        run, results = self._run, dict(self._results)
        run.summaries = dict(self._summaries)
        texts: dict[str, str] = {}
        origins: dict[str, Origins] = {}
        applied: dict[str, list[tuple[FixId, Finding]]] = {}
        broken: list[Problem] = []
        for _ in range(MAX_PASSES):
            fixable = [r for r in results.values() if any(_fixable(f, unsafe=unsafe) for f in r.findings)]
            changed: dict[str, str] = {}
            for result in fixable:
                source = run.source(result.name)
                if source is None or any(problem.path == result.name for problem in broken):
                    continue
                before = texts.get(result.name, source.text)
                origin = origins.setdefault(result.name, Origins(source.text))
                named = origin.names(result.findings)
                found = result.findings
                chosen = self._wanted(result.name, before, found) if self._wanted else found
                if allowed is not None:
                    refused = {id(finding) for name, finding in named.items() if not allowed(name)}
                    chosen = [finding for finding in chosen if id(finding) not in refused]
                done = fixes.one_pass(before, chosen, unsafe=unsafe)
                if done.text == before:
                    continue
                problem = fixes.check_parses(done.text, result.name, done.findings)
                problem = problem or source.unwritable(done.text)
                if problem is not None:
                    broken.append(problem)
                    continue
                changed[result.name] = texts[result.name] = done.text
                names = {id(finding): name for name, finding in named.items()}
                applied.setdefault(result.name, []).extend((names[id(f)], f) for f in done.findings)
                origin.record(done.edits, done.text)
            if not changed:
                break
            results.update(run.check_again(changed))
        report = run.report(results, texts)
        hidden = sorted((f for each in results.values() for f in each.hidden), key=lambda f: f.sort_key)
        report = replace(
            report,
            problems=(*report.problems, *broken),
            hidden=tuple(Hidden(finding, in_source=True, reason="hidden by a comment") for finding in hidden),
        )
        new = []
        for name in sorted(texts):
            source = run.source(name)
            if source is not None and texts[name] != source.text:
                new.append(Changed(source, texts[name], tuple(finding for _, finding in applied[name])))
        pairs = [pair for name in sorted(applied) for pair in applied[name]]
        left: dict[Finding, FixId] = {}
        for name, origin in origins.items():
            left.update((finding, each) for each, finding in origin.names(results[name].findings).items())
        return FixReport(
            report,
            tuple(finding for _, finding in pairs),
            tuple(new),
            tuple(name for name, _ in pairs),
            tuple(left.get(finding) for finding in report.findings),
        )


def _fixable(finding: Finding, *, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.safety is Safety.SAFE)


class _Run:
    """One run over a set of targets."""

    def __init__(self, targets: Sequence[Target], processes: int | None) -> None:
        self._targets = {target.name: target for target in targets}
        self._sources: dict[str, Source] = {t.name: t.source for t in targets if t.source is not None}
        self._plan = Plan(targets)
        self._processes = processes
        self.summaries: dict[str, ModuleSummary] = {}

    def source(self, name: str) -> Source | None:
        """The source of a target, read once in this process."""
        if name not in self._sources:
            source = read_source(self._targets[name].path, name)
            if isinstance(source, Source):
                self._sources[name] = source
        return self._sources.get(name)

    def check_all(
        self,
        *,
        ignore_suppressions: bool = False,
        keep_summaries: bool = False,
        cache: Cache | None = None,
    ) -> dict[str, Result]:
        """Check the targets, as far as the cache has no results. `check_again` needs the summaries."""
        results: dict[str, Result] = {}
        left: list[tuple[str | None, list[Job]]] = []
        for group in self._plan.groups:
            key = self._plan.key_of(group, ignore_suppressions=ignore_suppressions) if cache else None
            known = cache.load(key) if cache and key else None
            if known is None:
                left.append((key, group))
            else:
                results.update((result.name, result) for result in known)
        if left:
            results.update(
                self._check(
                    [group for _, group in left],
                    ignore_suppressions=ignore_suppressions,
                    keep_summaries=keep_summaries,
                )
            )
            for key, group in left:
                if cache and key:
                    cache.store(key, [results[job.name] for job in group if job.name in results])
            if cache:
                cache.tidy()
        return results

    def _check(
        self, groups: list[list[Job]], *, ignore_suppressions: bool, keep_summaries: bool
    ) -> dict[str, Result]:
        from rlint.workers import start_workers

        with closing(start_workers(_process_count(groups, self._processes))) as workers:
            results, self.summaries = workers.check(
                groups, ignore_suppressions=ignore_suppressions, keep_summaries=keep_summaries
            )
        return {result.name: self._placed(result) for result in results}

    def _placed(self, result: Result, text: str | None = None) -> Result:
        """What was found in a notebook, as places in its cells."""
        if self._targets[result.name].path.suffix != NOTEBOOK:
            return result
        from rlint.notebook.places import placed

        source = self.source(result.name)
        return placed(result, source, source.text if text is None else text) if source else result

    def check_again(self, texts: dict[str, str]) -> dict[str, Result]:
        """Check changed texts against the project as it is with them."""
        from rlint.worker import Worker

        results: dict[str, Result] = {}
        for group in self._plan.groups:
            changed = [replace(job, text=texts[job.name]) for job in group if job.name in texts]
            if changed:
                worker = Worker()
                self.summaries.update(worker.summarise(changed))
                known = {job.name: self.summaries[job.name] for job in group if job.name in self.summaries}
                found = worker.check([known], ignore_suppressions=False)
                results.update((result.name, self._placed(result, texts[result.name])) for result in found)
        return results

    def report(self, results: dict[str, Result], texts: dict[str, str] | None = None) -> Report:
        """Put the results of all files together, by file and line."""
        findings = sorted((f for r in results.values() for f in r.findings), key=lambda f: f.sort_key)
        met = dict.fromkeys(p for r in results.values() for p in r.problems)  # some are about the whole run
        problems = sorted(met, key=lambda p: (p.path, p.cell.index if p.cell else 0, p.line or 0, p.message))
        checked = sum(1 for result in results.values() if result.checked)
        sources = dict(self._sources)
        for name, text in (texts or {}).items():
            if name in sources:
                sources[name] = replace(sources[name], text=text)
        paths = {name: target.path for name, target in self._targets.items()}
        return Report(tuple(findings), tuple(problems), checked, sources, paths)


def _process_count(groups: Iterable[Sequence[Job]], wanted: int | None) -> int:
    sizes = [job.size for group in groups for job in group]
    if wanted is not None:
        return max(1, min(wanted, len(sizes) or 1))
    return max(1, min(os.cpu_count() or 1, sum(sizes) // _BYTES_PER_PROCESS + 1, len(sizes) or 1))
