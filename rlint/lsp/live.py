"""A persistent engine: knowledge about the files of a project is kept between checks.

Plans, summaries and their results are those of `rlint.engine.plan` and `rlint.engine.worker`; this only
caches them, and determines when they are out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.config.declared_knowledge import DeclaredKnowledge
from rlint.engine import worker
from rlint.engine.plan import Plan
from rlint.findings import Finding, Problem
from rlint.lsp.chains import ChainPlace, places_of
from rlint.run_data import FileTask, Target
from rlint.semantics.imports.import_graph import import_statements
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.source.files import FileStamp, Source, read_source, stamp_of

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import ModuleSummary

_MOST_SUMMARIES = 10_000
_MOST_LINKED = 3
"""Maximum number of groups of files whose linked program is kept. It is the largest object that is kept."""

_Stamp = str | FileStamp
"""The input of a file's summary: the text in the editor, or time, size and inode of the file."""

_Key = tuple[Path, str, str, str, DeclaredKnowledge]
"""The key of a file's summary."""


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """The findings of a text. `problems` are the reasons why rlint could not check it, including a syntax
    error.
    """

    text: str
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    parsed: bool
    """False if the text is not valid Python, so that it has no findings."""
    chains: Mapping[tuple[str, ...], tuple[ChainPlace, ...]]
    """Locations of the links of the findings' chains."""
    has_more_information: bool
    """Whether its summary has changed for other files."""
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Paths of all files that were read, by their names in findings and fixes."""

    @classmethod
    def nothing(cls, text: str) -> LiveCheck:
        """Return an empty result, for documents that are not checked."""
        return cls(text, (), (), parsed=True, chains={}, has_more_information=False)


@dataclass(frozen=True, slots=True)
class _Planned:
    key: tuple[object, ...]
    group: tuple[FileTask, ...]
    paths: dict[str, Path]
    stamps: dict[Path, _Stamp | None]


class Live:
    """Checks texts one at a time. Not for several threads at once."""

    def __init__(self) -> None:
        self._plans: dict[Path, _Planned] = {}
        self._summaries: dict[_Key, tuple[_Stamp | None, ModuleSummary | None]] = {}
        self._linked: OrderedDict[tuple[int, ...], tuple[Mapping[str, ModuleSummary], WholeProgram]]
        self._linked = OrderedDict()
        self._generation = 0

    def forget_plans(self) -> None:
        """Recompute the files around each text, as some were created, renamed or deleted."""
        self._generation += 1

    def forget(self, path: Path) -> None:
        """Discard a text that is no longer checked."""
        self._plans.pop(path, None)

    def state_of(self, path: Path, texts: Mapping[Path, str], stamps: dict[Path, object]) -> object:
        """Return the state from which the findings of a file follow, for comparison; None if it is not known.
        `stamps` contains the state of files seen already, so that each is examined once.
        """
        planned = self._plans.get(path)
        if planned is None:
            return None
        for each in planned.stamps:
            if each not in stamps:
                stamps[each] = texts.get(each) or stamp_of(each)
        return self._generation, tuple((each, stamps[each]) for each in planned.stamps)

    def knows(self, path: Path, other: Path) -> bool:
        """Whether the findings in the text at `path` depend on another file."""
        planned = self._plans.get(path)
        return planned is not None and other in planned.stamps

    def check(
        self, target: Target, texts: Mapping[Path, str], *, stopped: Callable[[], bool]
    ) -> LiveCheck | None:
        """Check a target, whose source is given. `texts` are those of files that are open in the editor; they
        replace the contents on disk. None if `stopped` said yes meanwhile.
        """
        assert target.source is not None
        text = target.source.text
        texts = {**texts, target.path: text}
        planned = self._plan(target, texts)
        paths = {job.name: job.path for job in planned.group}
        own = next(job for job in planned.group if job.name == target.name)
        checker = worker.Worker()
        made = checker.summarise([own])
        known: dict[str, ModuleSummary] = {}
        is_new = False
        if made:
            for job in planned.group:
                if stopped():
                    return None
                if job is own:
                    known[job.name], is_new = self._kept(job, text, made[job.name])
                elif (summary := self._summary(job, texts)) is not None:
                    known[job.name] = summary
        results = checker.check([known] if made else [], ignore_suppressions=False, link=self._link)
        findings = tuple(finding for result in results for finding in result.findings)
        problems = tuple(problem for result in results for problem in result.problems)
        chains = {finding.chain for finding in findings if finding.chain}
        index = self._link(known).index if chains else None
        places = {chain: places_of(chain, index, paths) for chain in chains} if index else {}
        return LiveCheck(
            text,
            findings,
            problems,
            parsed=bool(made),
            chains=places,
            has_more_information=is_new,
            paths=planned.paths,
        )

    def _plan(self, target: Target, texts: Mapping[Path, str]) -> _Planned:
        """Return the files that may depend on a target, recomputed after imports or files have changed."""
        imports = tuple(sorted((str(path), _imports(text)) for path, text in texts.items()))
        key = (target.name, self._generation, imports, target.declared)
        known = self._plans.get(target.path)
        if known is None or known.key != key or known.stamps != _stamps(known.group, texts):
            plan = Plan([target], texts)
            known = _Planned(key, tuple(plan.groups[0]), plan.paths, _stamps(plan.groups[0], texts))
            self._forget_summaries()
        group = tuple(
            replace(job, text=texts.get(job.path), codes=target.codes if job.name == target.name else None)
            for job in known.group
        )
        planned = replace(known, group=group)
        self._plans[target.path] = planned
        return planned

    def _summary(self, job: FileTask, texts: Mapping[Path, str]) -> ModuleSummary | None:
        """Return the summary of another file, if it can be read."""
        stamp = texts.get(job.path) or stamp_of(job.path)
        known = self._summaries.get(_key(job))
        if known is not None and known[0] == stamp:
            return known[1]
        found = worker.Worker().summarise([job]).get(job.name)
        if found is None:
            # A file that cannot be parsed right now, for instance during typing, keeps its previous summary.
            found = known[1] if known is not None and job.path in texts else None
            self._summaries[_key(job)] = (stamp, found)
            return found
        return self._kept(job, stamp, found)[0]

    def _kept(self, job: FileTask, stamp: _Stamp | None, made: ModuleSummary) -> tuple[ModuleSummary, bool]:
        """Cache a summary, and return whether it differs from the previous one. If it does not, results
        derived from it stay valid.
        """
        known = self._summaries.get(_key(job))
        is_new = known is None or known[1] != made
        kept = made if is_new or known is None or known[1] is None else known[1]
        self._summaries[_key(job)] = (stamp, kept)
        # the first summary is news only for an unsaved text: of others, the content on disk is known
        return kept, is_new and (known is not None or _is_unsaved(job.path, stamp))

    def _link(self, group: Mapping[str, ModuleSummary]) -> WholeProgram:
        key = tuple(map(id, group.values()))
        known = self._linked.get(key)
        if known is None:
            known = self._linked[key] = (
                dict(group),
                WholeProgram(group.values()),
            )  # so that no id is reused
            if len(self._linked) > _MOST_LINKED:
                self._linked.popitem(last=False)
        self._linked.move_to_end(key)
        return known[1]

    def _forget_summaries(self) -> None:
        if len(self._summaries) > _MOST_SUMMARIES:
            used = {_key(job) for planned in self._plans.values() for job in planned.group}
            self._summaries = {key: kept for key, kept in self._summaries.items() if key in used}


@lru_cache(maxsize=256)
def _imports(text: str) -> tuple[bytes, ...]:
    """Return the import statements of a text: if they do not change, neither do the files around it."""
    return tuple(match.group() for match in import_statements(text.encode("utf-8", "surrogatepass")))


def _key(job: FileTask) -> _Key:
    return job.path, job.name, job.module, job.package, job.declared


def _stamps(group: Iterable[FileTask], texts: Mapping[Path, str]) -> dict[Path, _Stamp | None]:
    """Return the states of files, except those in the editor."""
    return {job.path: None if job.path in texts else stamp_of(job.path) for job in group}


def _is_unsaved(path: Path, stamp: _Stamp | None) -> bool:
    """Whether this is the text of an editor rather than that of the file."""
    if not isinstance(stamp, str):
        return False
    source = read_source(path, str(path))
    return not isinstance(source, Source) or source.text != stamp
