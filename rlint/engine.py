"""Sources in, findings out; and for fixes, new texts. Writes nothing, and runs nothing that it reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlint import fixes
from rlint.files import Source, read_source
from rlint.findings import Finding, Problem, Safety
from rlint.project.context import module_names, project_files
from rlint.worker import Job, Result, Worker
from rlint.workers import start_workers

if TYPE_CHECKING:
    from rlint.project.summary import ModuleSummary

MAX_PASSES = 50
"""So often fixes that wait for one another are tried again. A handful is usual."""
_BYTES_PER_PROCESS = 200_000  # of source that justify one more process


@dataclass(frozen=True, slots=True)
class Target:
    """A file to check, and the codes to check it for. `source` is given for standard input only."""

    source: Source | None
    path: Path
    name: str
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found, by file and line, and what kept it from checking some files."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    checked: int
    _sources: dict[str, Source] = field(default_factory=dict, repr=False)
    _paths: dict[str, Path] = field(default_factory=dict, repr=False)

    def source_of(self, name: str) -> Source | None:
        """The source that the findings of a file refer to."""
        if name not in self._sources and name in self._paths:
            source = read_source(self._paths[name], name)
            if isinstance(source, Source):
                self._sources[name] = source
        return self._sources.get(name)


@dataclass(frozen=True, slots=True)
class Changed:
    """A file whose text fixes have changed. Nothing is written yet."""

    source: Source
    text: str
    applied: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class FixReport:
    """What remains after fixing, what was fixed, and the new texts."""

    report: Report
    applied: tuple[Finding, ...]
    changed: tuple[Changed, ...]


def check(targets: Sequence[Target], *, jobs: int | None = None, ignore_suppressions: bool = False) -> Report:
    """Check files, with what is known of the whole project around them."""
    run = _Run(targets, jobs, ignore_suppressions=ignore_suppressions)
    with closing(run):
        return run.report(run.check_all())


def fix(targets: Sequence[Target], *, unsafe: bool, jobs: int | None = None) -> FixReport:
    """Fix files in memory: pass after pass until nothing changes. Files that would not parse any more
    are left as they were and reported.
    """
    run = _Run(targets, jobs, ignore_suppressions=False)
    with closing(run):
        results = run.check_all()
        texts: dict[str, str] = {}
        applied: dict[str, list[Finding]] = {}
        broken: list[Problem] = []
        for _ in range(MAX_PASSES):
            fixable = [r for r in results.values() if any(_fixable(f, unsafe=unsafe) for f in r.findings)]
            changed: dict[str, str] = {}
            for result in fixable:
                source = run.source(result.name)
                if source is None or any(problem.path == result.name for problem in broken):
                    continue
                before = texts.get(result.name, source.text)
                after, done = fixes.apply(before, result.findings, unsafe=unsafe)
                if after == before:
                    continue
                problem = fixes.check_parses(after, result.name, done)
                if problem is not None:
                    broken.append(problem)
                    continue
                changed[result.name] = texts[result.name] = after
                applied.setdefault(result.name, []).extend(done)
            if not changed:
                break
            results.update(run.check_again(changed))
        report = run.report(results, texts)
        report = replace(report, problems=(*report.problems, *broken))
        new = []
        for name in sorted(texts):
            source = run.source(name)
            if source is not None and texts[name] != source.text:
                new.append(Changed(source, texts[name], tuple(applied[name])))
        return FixReport(report, tuple(f for name in sorted(applied) for f in applied[name]), tuple(new))


def _fixable(finding: Finding, *, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.safety is Safety.SAFE)


class _Run:
    """One run over a set of targets: workers that hold the files' trees, and the summaries between them."""

    def __init__(self, targets: Sequence[Target], jobs: int | None, *, ignore_suppressions: bool) -> None:
        self._targets = {target.name: target for target in targets}
        self._sources: dict[str, Source] = {t.name: t.source for t in targets if t.source is not None}
        context = project_files([target.path for target in targets])
        modules = module_names([*(target.path for target in targets), *(path for path, _ in context)])
        self._jobs = [
            Job(t.path, t.name, *modules[t.path], t.codes, t.source.text if t.source else None)
            for t in self._targets.values()
        ]
        self._jobs += [Job(path, name, *modules[path], None, None) for path, name in context]
        self._ignore = ignore_suppressions
        self._workers = start_workers(_process_count(self._jobs, jobs))
        self._summaries: dict[str, ModuleSummary] = {}

    def close(self) -> None:
        """End the worker processes."""
        self._workers.close()

    def source(self, name: str) -> Source | None:
        """The source of a target, read once in this process."""
        if name not in self._sources:
            source = read_source(self._targets[name].path, name)
            if isinstance(source, Source):
                self._sources[name] = source
        return self._sources.get(name)

    def check_all(self) -> dict[str, Result]:
        """Summarise everything, link, check the targets."""
        self._summaries = self._workers.summarise(self._jobs)
        return {r.name: r for r in self._workers.check(self._summaries, ignore_suppressions=self._ignore)}

    def check_again(self, texts: dict[str, str]) -> dict[str, Result]:
        """Check changed texts against the project as it is with them."""
        jobs = [replace(job, text=texts[job.name]) for job in self._jobs if job.name in texts]
        worker = Worker()
        self._summaries.update(worker.summarise(jobs))
        return {r.name: r for r in worker.check(self._summaries, ignore_suppressions=self._ignore)}

    def report(self, results: dict[str, Result], texts: dict[str, str] | None = None) -> Report:
        """Put the results of all files together, by file and line."""
        findings = sorted((f for r in results.values() for f in r.findings), key=lambda f: f.sort_key)
        problems = sorted(
            (p for r in results.values() for p in r.problems), key=lambda p: (p.path, p.line or 0, p.message)
        )
        checked = sum(1 for result in results.values() if result.checked)
        sources = dict(self._sources)
        for name, text in (texts or {}).items():
            if name in sources:
                sources[name] = replace(sources[name], text=text)
        paths = {name: target.path for name, target in self._targets.items()}
        return Report(tuple(findings), tuple(problems), checked, sources, paths)


def _process_count(jobs: Sequence[Job], wanted: int | None) -> int:
    if wanted is not None:
        return max(1, min(wanted, len(jobs) or 1))
    total = sum(job.size for job in jobs)
    return max(1, min(os.cpu_count() or 1, total // _BYTES_PER_PROCESS + 1, len(jobs) or 1))
