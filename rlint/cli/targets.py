"""Targets of a run: the files of a request, or standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.cli.request import Request, build_resolver
from rlint.config.options import GivenBy
from rlint.errors import RlintError
from rlint.file_paths import absolute
from rlint.findings import Problem
from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.config.settings import Settings, SettingsResolver
    from rlint.engine.cache.seen_files import StatCache
    from rlint.engine.cache.store import Cache
    from rlint.run_data import Target
    from rlint.source.files import Source


@frozen
class CheckWork:
    """The settings of a run, and its files."""

    request: Request
    resolver: SettingsResolver
    paths: tuple[Path, ...]
    problems: tuple[Problem, ...]
    """Named files and plugins that do not exist."""
    seen: StatCache | None = None
    """The state of files in earlier runs."""

    @property
    def settings(self) -> Settings:
        """Return the settings that apply to the run as a whole."""
        return self.resolver.main

    def cache(self) -> Cache | None:
        """Return the results of earlier runs, unless they are not wanted."""
        from rlint.engine.cache.store import FOLDER, Cache

        if self.request.no_cache or self.request.reads_stdin:
            return None
        settings = self.settings
        base = settings.config.parent if settings.config is not None else self.resolver.root
        if settings.cache_dir is None:
            return Cache(absolute(base / FOLDER))
        given_by = settings.given_by["cache-dir"]
        if given_by is GivenBy.OPTION:
            return Cache(Path(os.path.realpath(self.resolver.root / settings.cache_dir)))
        folder = Path(os.path.realpath(base / settings.cache_dir))
        if given_by is not GivenBy.CONFIG_OPTION and not _is_below(folder, base):
            raise RlintError(
                f"{settings.origins['cache-dir'][1]}: `cache-dir` is outside {base}; "
                "use `--cache-dir` or RLINT_CACHE_DIR for a folder elsewhere"
            )
        return Cache(folder)

    def baseline_path(self, *, to_write: bool = False) -> Path | None:
        """Return the baseline file, if one is configured."""
        root, settings = self.resolver.root, self.settings
        if to_write and self.request.write_baseline:
            return absolute(root / self.request.write_baseline)
        base = settings.config.parent if settings.config is not None else root
        if not self.request.no_baseline and settings.baseline is not None:
            if settings.given_by["baseline"] in (GivenBy.OPTION, GivenBy.CONFIG_OPTION):
                return absolute(root / settings.baseline)
            path = absolute(base / settings.baseline)
        elif to_write:
            from rlint.suppression.baseline import DEFAULT_NAME

            path = absolute(base / DEFAULT_NAME)
        else:
            return None
        if to_write and not _is_below(path, base):
            raise RlintError(
                f"{path}: the baseline is outside {base}; use `--write-baseline=FILE` for a file elsewhere"
            )
        return path

    def targets(self) -> list[Target]:
        """Return the files, each with the codes that it is checked for."""
        from rlint.run_data import Target
        from rlint.source.files import display_name

        root = self.resolver.root
        return [
            Target(
                None,
                path,
                display_name(path, root),
                settings.codes_for(path),
                declared=settings.declared,
                fixability=settings.fixability,
            )
            for path in self.paths
            for settings in [self.resolver.for_file(path)]
        ]


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path in a configuration points to a place in its folder, with links resolved."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


@frozen
class StandardInput:
    """A program read from standard input."""

    raw: bytes
    source: Source | Problem
    targets: Sequence[Target]
    """Return the program, or nothing if it cannot be decoded or is excluded."""


def find_work(request: Request) -> CheckWork:
    """Return settings and files."""
    return with_files(with_settings(request))


def with_settings(request: Request) -> CheckWork:
    """Return the settings; the files are discovered later."""
    resolver = build_resolver(
        request.overrides, request.config, isolated=request.isolated, plugins=request.plugins
    )
    return CheckWork(request, resolver, (), ())


def with_files(work: CheckWork) -> CheckWork:
    """Find the files."""
    from rlint.source.discovery import discover

    request, resolver = work.request, work.resolver
    if request.reads_stdin:
        resolver.for_file(absolute(request.stdin_filename or "-"))
        return CheckWork(request, resolver, (), resolver.problems)
    from rlint.engine.cache.seen_files import StatCache

    seen = StatCache(work.cache())
    found = discover(request.paths, resolver, seen.decisions)
    for path in found.files:
        resolver.for_file(path)
    return CheckWork(request, resolver, found.files, (*resolver.problems, *found.problems), seen)


def read_stdin(work: CheckWork) -> StandardInput:
    """Return standard input, under the name that the user gives it."""
    from rlint.run_data import Target
    from rlint.source.files import display_name, source_from_text

    named = work.request.stdin_filename
    path = absolute(named or "-")
    name = display_name(path, work.resolver.root) if named else "-"
    settings = work.resolver.for_file(path)
    raw = sys.stdin.buffer.read()
    source = source_from_text(raw, name, path)
    excluded = named is not None and work.settings.force_exclude and settings.excludes_file(path)
    if excluded or isinstance(source, Problem):
        return StandardInput(raw, source, ())
    target = Target(
        source,
        path,
        name,
        settings.codes_for(path),
        declared=settings.declared,
        fixability=settings.fixability,
    )
    return StandardInput(raw, source, (target,))
