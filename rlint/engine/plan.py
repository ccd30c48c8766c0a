"""Plan of a run: the files to read, and the groups of files to analyse together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.config.declared_knowledge import NOTHING_DECLARED
from rlint.engine.configurations import Configurations
from rlint.engine.loaders import loaders_in, loaders_of
from rlint.engine.program_groups import placed_next_to_programs
from rlint.run_data import FileTask, Target
from rlint.semantics.imports.import_groups import grouped
from rlint.semantics.imports.import_scan import ImportScan, glance_at_file, glance_at_text, read_file
from rlint.semantics.imports.project_files import module_names, project_files
from rlint.semantics.imports.relevance import is_judged
from rlint.semantics.imports.star_exports import starred_names
from rlint.semantics.imports.test_files import is_in_tests, is_named_like_tests, is_test_file
from rlint.source.files import Source, read_source, source_from_text

if TYPE_CHECKING:
    from rlint.engine.cache.seen_files import StatCache

_MOST_HELD = 4_000_000
"""Maximum bytes of files to check that are kept in memory for a run, so that each is opened once."""


class Plan:
    """The tasks of a run: its targets, and the related files around them.

    `groups` are the tasks in groups of files that may refer to one another; the analysis of a group uses that
    group only, and what loaders do to any module. Groups without a target are left out. `texts` are those of
    files around the targets that are being edited, and replace their contents on disk. `seen` avoids reading
    unchanged files.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        texts: Mapping[Path, str] | None = None,
        seen: StatCache | None = None,
    ) -> None:
        texts = dict(texts or {})
        texts.update((target.path, target.source.text) for target in targets if target.source)
        look = _Look(texts, seen, {target.path for target in targets})
        context = project_files([target.path for target in targets], look)
        modules = module_names([*(target.path for target in targets), *(path for path, _ in context)])
        self._look_again = look.again
        self._digests: dict[str, str] = {}
        self._jobs: dict[str, FileTask] = {}
        imports: dict[str, set[str]] = {}
        mentions_learning: set[str] = set()
        files = [(t.path, t.name, t.codes) for t in targets]
        measured = {target.name: target.measured for target in targets}
        declared = {target.name: target.declared for target in targets}
        around = next((each for each in declared.values() if not each.says_nothing), NOTHING_DECLARED)
        for path, name, codes in [*files, *((path, name, None) for path, name in context)]:
            module, package = modules[path]
            glance, hot = look(path), measured.get(name, ())
            self._jobs[name] = FileTask(
                path,
                name,
                module,
                package,
                codes,
                texts.get(path),
                glance.size,
                hot,
                calls=glance.calls,
                digest=glance.digest,
                starred=starred_names(glance.stars, package, path),
                content=look.contents.get(path),
                declared=declared.get(name, around),
            )
            imports[name] = glance.imported_paths(package)
            if glance.digest:
                self._digests[name] = glance.digest
                if hot or glance.is_about_learning(imports[name]):
                    mentions_learning.add(name)
        names = {name: job.module for name, job in self._jobs.items()}
        groups = placed_next_to_programs(
            [[self._jobs[name] for name in group] for group in grouped(names, imports)], look.scans
        )
        configurations = Configurations()
        loaders = loaders_in(look.scans, texts, look.contents)
        self._digests.update((loader.task.name, loader.task.digest) for loader in loaders)
        self.groups = [
            [
                *group,
                *loaders_of(group, loaders),
                *configurations.of(group, [imports[job.name] for job in group]),
            ]
            if is_judged([(job.size, job.name in mentions_learning) for job in group])
            and not _are_tests(group)
            else _unjudged(group)
            for group in groups
            if any(job.codes is not None for job in group)
        ]
        found = (job for group in self.groups for job in group if job.is_configuration)
        self._digests.update((job.name, job.digest) for job in found)

    @property
    def names(self) -> list[str]:
        """Return the names of all files that the run reads, including those without a connection to a
        target.
        """
        return list(self._jobs)

    @property
    def paths(self) -> dict[str, Path]:
        """Return the paths of all files that the run reads, by their names."""
        return {name: job.path for name, job in self._jobs.items()}

    @property
    def are_tests(self) -> bool:
        """Whether there are files to check and all of them are tests or documentation."""
        wanted = [job for job in self._jobs.values() if job.codes is not None]
        return bool(self._jobs) and all(map(self._is_test, wanted))

    def _is_test(self, job: FileTask) -> bool:
        if is_in_tests(job.name, job.module) or not is_named_like_tests(job.name, job.module):
            return is_in_tests(job.name, job.module)
        source = self.read(job.name)
        return source is not None and is_test_file(job.name, job.module, source.text)

    def read(self, name: str) -> Source | None:
        """Return the source of a file that the run reads; None if it cannot be read."""
        job = self._jobs[name]
        raw = job.content if job.text is None else job.text.encode("utf-8", "surrogatepass")
        source = read_source(job.path, name) if raw is None else source_from_text(raw, name, job.path)
        return source if isinstance(source, Source) else None

    def holds_content(self, name: str) -> bool:
        """Whether the content of a file is in memory, as it was at the start of the run."""
        return self._jobs[name].content is not None

    def holds(self, group: Iterable[FileTask]) -> bool:
        """Whether the files of a group are unchanged since the run began."""
        return all(
            job.content is not None or self._look_again(job.path).digest == self._digests.get(job.name)
            for job in group
        )

    def key_of(self, group: Iterable[FileTask], *, ignore_suppressions: bool) -> str | None:
        """Return the cache key of a group's results; None if one of its files cannot be read."""
        from rlint.engine.cache.keys import key_of

        jobs = [(job, self._digests.get(job.name)) for job in group]
        known = [(job, digest) for job, digest in jobs if digest is not None]
        return key_of(known, ignore_suppressions=ignore_suppressions) if len(known) == len(jobs) else None


class _Look:
    """Scans each file once. `scans` are those of all files so far, `contents` those of the files to check, as
    far as they were read.
    """

    def __init__(self, texts: Mapping[Path, str], seen: StatCache | None, checked: Collection[Path]) -> None:
        self._texts = texts
        self._at_file = glance_at_file if seen is None else seen.glance
        self.scans: dict[Path, ImportScan] = {}
        self._checked = checked
        self._room = _MOST_HELD
        self.contents: dict[Path, bytes] = {}

    def __call__(self, path: Path) -> ImportScan:
        known = self.scans.get(path)
        if known is None:
            known = self.scans[path] = self._look(path, self._read)
        return known

    def again(self, path: Path) -> ImportScan:
        """Scan the current content of a file."""
        return self._look(path, read_file)

    def _look(self, path: Path, read: Callable[[Path], bytes | None]) -> ImportScan:
        text = self._texts.get(path)
        return self._at_file(path, read) if text is None else glance_at_text(path, text)

    def _read(self, path: Path) -> bytes | None:
        content = read_file(path)
        if content is not None and path in self._checked and len(content) <= self._room:
            self._room -= len(content)
            self.contents[path] = content
        return content


def _are_tests(jobs: Iterable[FileTask]) -> bool:
    """Whether all files to check are tests, which no rule examines."""
    return all(is_in_tests(job.name, job.module) for job in jobs if job.codes is not None)


def _unjudged(group: list[FileTask]) -> list[FileTask]:
    """Return the tasks for a program that no rule examines: its own files are read, and no others."""
    return [replace(job, judged=False) for job in group if job.codes is not None]
