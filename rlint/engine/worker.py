"""Work on one share of the files: read, summarise and, once the project is linked, check."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rlint.engine.configurations import configuration_summary
from rlint.engine.counted_once import counted_once
from rlint.engine.declarations import declare
from rlint.engine.dispatch import NodeDispatch
from rlint.engine.gc_control import GarbageSweep
from rlint.engine.likely_findings import likely_findings
from rlint.findings import Finding, Problem
from rlint.fixing.demote import doubted, restored_doubt, without_safe_fix
from rlint.fixing.fix_validation import held
from rlint.fixing.required_versions import with_requirements
from rlint.parsing.parse import parse, problem_in
from rlint.registry import catalogue
from rlint.run_data import FileResult, FileTask
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.imports.import_scan import glance_at
from rlint.semantics.imports.star_exports import starred_names
from rlint.semantics.imports.test_files import is_test_file
from rlint.semantics.interprocedural.compaction import Compactor, Interner
from rlint.semantics.interprocedural.summarise import summarise, summarise_loader
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.likely_models import LikelyModels
from rlint.semantics.model import SemanticModel
from rlint.semantics.types.likely.notes import NOTHING
from rlint.source.files import NOTEBOOK, Source, read_source, source_from_text
from rlint.suppression import suppressions

if TYPE_CHECKING:
    from rlint.base_rule import Rule
    from rlint.engine.cache.summary_cache import SummaryCache
    from rlint.engine.incremental.dependencies import Dependencies
    from rlint.engine.incremental.query_recorder import QueryRecorder
    from rlint.registry.catalogue import RuleEntry
    from rlint.semantics.interprocedural.project_index import ProjectIndex

KEPT_BYTES = 2_000_000
"""Trees of this many bytes of source are kept between summarising and checking, in up to 120 MB of memory;
the rest is parsed and walked again, which is a tenth of the work on a file.
"""
LARGE_BYTES = 2 * KEPT_BYTES
"""From this size of a share on, memory counts: summaries are compacted, which takes 3 % of the time, and no
trees are kept, which would save as much.
"""


class Worker:
    """Holds the trees of its share of the files between summarising and checking."""

    def __init__(self) -> None:
        self._jobs: list[FileTask] = []
        self._knowledge: dict[str, FileAnalysis] = {}
        self._problems: dict[str, Problem] = {}
        self._comments: dict[str, suppressions.Suppressions] = {}  # of files that no rule examines
        self._families = {entry.code.rstrip("0123456789") for entry in catalogue.catalogue()}
        self._kept = 0
        self._edits = True

    def summarise(
        self, jobs: Iterable[FileTask], kept: SummaryCache | None = None
    ) -> dict[str, ModuleSummary]:
        """Read and parse files; return their summaries by name, from the cache if there are any. Problems are
        stored for `check`.
        """
        summaries = {}
        intern = Interner()
        share = list(jobs)
        compactor = Compactor() if sum(job.size for job in share) > LARGE_BYTES else None
        room = KEPT_BYTES if compactor is None else 0
        for job in share:
            self._jobs.append(job)
            if job.is_loader or job.is_configuration:
                apart = _loader_summary(job) if job.is_loader else configuration_summary(job)
                summaries.update({job.name: apart} if apart is not None else {})
                continue
            known = kept.load(job) if kept is not None and job.judged and job.text is None else None
            if known is not None:
                summaries[job.name] = known
                continue
            text = text_of(job)
            if isinstance(text, str) and not job.judged:
                problem = problem_in(text, job.name)
                if problem is not None:
                    self._problems[job.name] = problem
                else:
                    self._comments[job.name] = suppressions.parse(text, self._families, has_findings=False)
                continue
            analysis = analysed(job, text) if isinstance(text, str) else text
            if isinstance(analysis, Problem):
                self._problems[job.name] = analysis
                continue
            try:
                summaries[job.name] = summarise(analysis, job.name, intern)
                summaries[job.name].measured = job.measured
                declare(job, analysis.syntax.text, summaries[job.name])
                if compactor is not None:
                    compactor.compact(summaries[job.name])
            except RecursionError:
                self._problems[job.name] = Problem(
                    job.name, "expressions are nested too deeply to be checked"
                )
                continue
            except Exception:  # noqa: BLE001 - a bug in rlint must not keep the other files from being checked
                self._problems[job.name] = _bug(job.name, "reading this file")
                continue
            if kept is not None and job.text is None and _is_of(job, analysis.syntax.text):
                kept.store(job, summaries[job.name])
            size = len(analysis.syntax.text)
            if job.codes is not None and not summaries[job.name].is_test and self._kept + size <= room:
                self._kept += size
                self._knowledge[job.name] = analysis
            else:
                analysis.release()
        return summaries

    def check(
        self,
        groups: Iterable[Mapping[str, ModuleSummary]],
        *,
        ignore_suppressions: bool,
        link: Callable[[Mapping[str, ModuleSummary]], WholeProgram] | None = None,
        queries: Dependencies | None = None,
        only: Collection[str] | None = None,
        edits: bool = True,
    ) -> list[FileResult]:
        """Check this worker's files, each with the knowledge of its group: the summaries by the files' names.

        Files that are in no group could not be read. `link` returns the linked program of a group; the
        queries of the files are added to `queries`. `only` chooses among this worker's files. Without
        `edits`, those that LibCST would have to write are left out.
        """
        self._edits = edits
        jobs = {
            job.name: job
            for job in self._jobs
            if job.codes is not None and (only is None or job.name in only)
        }
        codes = frozenset[str]().union(*(job.codes for job in jobs.values() if job.codes))
        rules, unusable = catalogue.load_usable(codes)
        results = [
            FileResult(name, problems=(self._problems[name],), checked=False)
            for name in jobs
            if name in self._problems
        ]
        for name, comments in self._comments.items():
            found = [] if ignore_suppressions else _sorted_out([], comments, jobs[name])[0]
            results.append(FileResult(name, tuple(sorted(found, key=lambda finding: finding.sort_key))))
        sweep = GarbageSweep()
        for group in groups:
            program = link(group) if link is not None else WholeProgram(group.values())
            questions = _recorder(program, queries) if queries is not None else None
            for name in group:
                if name in jobs:
                    job = jobs[name]
                    with questions.stand_in(name) if questions is not None else nullcontext(program) as known:
                        result = self._check(job, known, rules, ignore_suppressions=ignore_suppressions)
                    results.append(result)
                    sweep.add(job.size)
        if unusable:
            problems = _unusable(unusable)
            results = [replace(result, problems=(*result.problems, *problems)) for result in results]
        return results

    def _check(
        self, job: FileTask, program: WholeProgram, rules: Sequence[Rule], *, ignore_suppressions: bool
    ) -> FileResult:
        assert job.codes is not None
        kept = self._knowledge.pop(job.name, None)
        text = kept.syntax.text if kept is not None else text_of(job)
        if isinstance(text, Problem):  # the file changed since it was summarised
            return FileResult(job.name, problems=(text,), checked=False)
        comments = suppressions.parse(text, self._families)
        if comments.skip_file and not ignore_suppressions:
            return FileResult(job.name)
        wanted: list[Rule] = []
        if not is_test_file(job.name, job.module, text):
            words = _Words(text)
            wanted = [rule for rule in rules if rule.code in job.codes and _triggered(rule, words)]
        found: list[Finding] = []
        problems: list[Problem] = []
        hidden: tuple[Finding, ...] = ()
        if wanted:
            index = program.index
            analysis = kept.linked(index) if kept is not None else analysed(job, text, index)
            if isinstance(analysis, Problem):
                return FileResult(job.name, problems=(analysis,), checked=False)
            model = SemanticModel(job.name, analysis, program)
            likely = LikelyModels(model, program)
            visits = NodeDispatch(model)
            edits = self._edits or job.path.suffix == NOTEBOOK  # the cells that they change must be known
            for rule in wanted:
                seen = run_rule(rule, model, visits, likely=likely, edits=edits)
                if isinstance(seen, Problem):
                    problems.append(seen)
                else:
                    found += seen
            found = counted_once(found, model.analysis.syntax)
            del visits
            likely.release()
            model.release()
        if kept is not None:
            kept.release()
        if not ignore_suppressions:
            found, hidden = _sorted_out(found, comments, job)
        found.sort(key=lambda finding: finding.sort_key)
        return FileResult(job.name, tuple(found), tuple(problems), hidden=hidden)


@lru_cache(maxsize=64)  # many groups have the same loaders
def _loader_summary(job: FileTask) -> ModuleSummary | None:
    """Return what a file does to modules whose names are known only at run time; None if it is unreadable."""
    text = text_of(job)
    analysis = analysed(job, text) if isinstance(text, str) else text
    try:
        return None if isinstance(analysis, Problem) else summarise_loader(analysis, job.name)
    except Exception:  # noqa: BLE001 - a bug in rlint must not keep the other files from being checked
        return None


def _recorder(program: WholeProgram, queries: Dependencies) -> QueryRecorder:
    from rlint.engine.incremental.query_recorder import QueryRecorder

    return QueryRecorder(program, queries.of_a_group())


def _sorted_out(
    found: list[Finding], comments: suppressions.Suppressions, job: FileTask
) -> tuple[list[Finding], tuple[Finding, ...]]:
    """Return the findings that no comment suppresses, with those about the comments themselves; and the
    suppressed ones.
    """
    if comments.is_empty:
        return found, ()
    hidden = tuple(finding for finding in found if comments.hides(finding))
    shown = [finding for finding in found if finding not in hidden]
    known = {entry.code: entry.name for entry in catalogue.catalogue()}
    return [*shown, *comments.report(job.name, known, job.codes or ())], hidden


def text_of(job: FileTask) -> str | Problem:
    """Return the text of a file, or why there is none."""
    if job.text is not None:
        return job.text
    if job.content is not None:
        source = source_from_text(job.content, job.name, job.path)
    else:
        source = read_source(job.path, job.name)
    return source.text if isinstance(source, Source) else source


def _is_of(job: FileTask, text: str) -> bool:
    """Whether a text is the content of the file that the task names, and neither the file nor the names that
    it gets from other files have changed.
    """
    raw = job.content
    if raw is None:
        source = read_source(job.path, job.name)
        if not isinstance(source, Source) or source.text != text:
            return False
        raw = source.raw
        if hashlib.sha256(raw).hexdigest() != job.digest:
            return False
    if not job.starred:
        return True
    return starred_names(glance_at(job.path, raw).stars, job.package, job.path) == job.starred


def analysed(job: FileTask, text: str, index: ProjectIndex | None = None) -> FileAnalysis | Problem:
    """Parse a file and walk it once."""
    reading = parse(text, job.name)
    if isinstance(reading, Problem):
        return reading
    try:
        return FileAnalysis(
            text,
            reading,
            job.module,
            job.package,
            index,
            accelerator=job.declared.accelerator,
            path=job.path.absolute(),
        )
    except RecursionError:
        return Problem(job.name, "expressions are nested too deeply to be checked")
    except Exception:  # noqa: BLE001 - a bug in rlint must not keep the other files from being checked
        return _bug(job.name, "reading this file")


class _Words(dict[str, bool]):
    """The words that a text contains. Many rules need the same words, and each is searched for once."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __missing__(self, word: str) -> bool:
        found = self[word] = word in self._text
        return found


def _triggered(rule: Rule, words: _Words) -> bool:
    """Whether a rule can find anything in a text. For a rule with `callees`, the names of the file's calls
    decide.
    """
    if not rule.triggers or (rule.callees and rule.visits == (ast.Call,)):
        return True
    return any(map(words.__getitem__, rule.triggers))


def _unusable(broken: Sequence[tuple[RuleEntry, str]]) -> list[Problem]:
    """Return one problem for each plugin, however many of its rules are broken. Results with such a problem
    are not cached.
    """
    problems = {}
    for entry, reason in broken:
        if entry.plugin is not None and entry.plugin.name not in problems:
            codes = [
                other.code for other, _ in broken if other.plugin and other.plugin.name == entry.plugin.name
            ]
            what = catalogue.left_out(entry, reason)
            more = f"; the same applies to {', '.join(codes[1:])}" if len(codes) > 1 else ""
            hint = f"fix the plugin, install another version of {entry.plugin.name}, or ignore {entry.code}"
            problems[entry.plugin.name] = Problem(entry.plugin.name, what + more, hint=hint, is_bug=True)
    return list(problems.values())


def run_rule(
    rule: Rule, model: SemanticModel, visits: NodeDispatch, *, likely: LikelyModels | None = None, edits: bool
) -> list[Finding] | Problem:
    """Return the findings of a rule in a file; a bug of one rule does not silence the others."""
    found: dict[tuple[object, ...], Finding] = {}
    notes = model.analysis.notes
    short: list[ast.AST] = []
    try:
        queries = visits.model_for(rule)
        for node in visits.of(rule) if rule.concerns(queries) else ():
            notes.state = NOTHING
            silent = True
            try:
                for finding in rule.check(node, queries):
                    silent = False
                    if finding.heat >= rule.heat:
                        judged = without_safe_fix(finding)
                        judged = restored_doubt(judged) if notes.state.doubted else judged
                        found.setdefault((finding.start, finding.end, finding.message), judged)
                if silent and notes.state.short and queries is model:
                    short.append(node)
            except RecursionError:  # a place that is too deep is ignored; other findings count
                continue
        if short and likely is not None:
            for finding in likely_findings(rule, short, likely, list(found.values())):
                found.setdefault((finding.start, finding.end, finding.message), finding)
        if not found:
            return []
        judged_all = with_requirements(doubted(list(found.values()), model), model)
        return held(judged_all, model, with_edits=edits)
    except RecursionError:
        return Problem(model.path, f"{rule.code}: expressions are nested too deeply to be checked")
    except Exception:  # noqa: BLE001 - one rule's bug must not silence the others
        plugin = catalogue.find(rule.code).plugin
        whose = f"{plugin.name} {plugin.version}" if plugin else "rlint"
        return _bug(model.path, f"checking {rule.code}", whose)


def _bug(name: str, doing: str, whose: str = "rlint") -> Problem:
    import traceback

    last = traceback.format_exc().strip().splitlines()
    where = next((line.strip() for line in reversed(last) if line.strip().startswith("File ")), "")
    return Problem(
        name,
        f"rlint failed {doing}: {last[-1]}",
        hint=f"this is a bug in {whose}, please report it; {where}",
        is_bug=True,
    )
