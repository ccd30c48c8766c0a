"""From the paths that a user names to the files that are checked."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.file_paths import absolute
from rlint.findings import Problem
from rlint.frozen import frozen
from rlint.source.files import NOTEBOOK, display_name
from rlint.source.gitignore import Decisions, IgnoreRules, rules_above, rules_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.config.settings import SettingsResolver

SUFFIX = ".py"


@frozen
class Discovered:
    """The files to check, in order of their paths, and named paths that cannot be checked."""

    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def discover(paths: Iterable[str], resolver: SettingsResolver, known: Decisions | None = None) -> Discovered:
    """Return Python files and notebooks in `paths`: files as they are named, and all files below folders.

    Excluded, ignored and internal files (virtual environments, caches) are skipped on a walk; a file that is
    named itself is checked, unless `force-exclude` is set. Linked folders are not entered, linked files are
    read; a file reached in two ways is found once. `known` contains decisions of earlier walks about
    git-ignored paths.
    """
    walk = _Walk(resolver, known or _nothing_known)
    for path in paths:
        walk.add(path)
    return Discovered(walk.files(), tuple(walk.problems))


def _nothing_known(_: str) -> dict[str, bool]:
    return {}


class _Walk:
    def __init__(self, resolver: SettingsResolver, known: Decisions) -> None:
        self._resolver = resolver
        self._known = known
        self._root = resolver.root
        self._forced = resolver.main.force_exclude
        self._gitignore = resolver.main.respect_gitignore
        self._seen_folders: set[str] = set()
        self._found: dict[str, str] = {}
        """From the real path of a file to its displayed path."""
        self.problems: list[Problem] = []

    def add(self, path: str) -> None:
        """Add a named path."""
        named = absolute(self._root / path)
        if self._forced and self._resolver.for_file(named).excludes_file(named):
            return
        try:
            mode = os.stat(named).st_mode
        except FileNotFoundError:
            linked = os.path.islink(named)
            self._report(named, "is a broken symbolic link" if linked else "no such file or folder")
        except (OSError, ValueError) as error:
            self._report(named, f"cannot be read: {getattr(error, 'strerror', None) or error}")
        else:
            if stat.S_ISDIR(mode):
                ignore = rules_above(str(named), str(self._root), self._known) if self._gitignore else None
                self._walk(str(named), ignore)
            else:
                self._take(str(named), os.path.realpath(named))

    def files(self) -> tuple[Path, ...]:
        """Return all files found, sorted."""
        return tuple(Path(shown) for shown in sorted(self._found.values()))

    def _walk(self, named: str, ignore: IgnoreRules | None) -> None:
        pending: list[tuple[str, str, IgnoreRules | None]] = [(named, os.path.realpath(named), ignore)]
        while pending:
            folder, real, ignore = pending.pop()
            if real in self._seen_folders:
                continue
            self._seen_folders.add(real)
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._report(Path(folder), f"cannot be read: {error.strerror}")
                continue
            if folder != named and _is_environment(found):
                continue
            if self._gitignore:
                ignore = rules_in(folder, ignore, self._known)
            settings = self._resolver.for_folder(Path(folder))
            wanted = (SUFFIX, NOTEBOOK) if settings.notebooks else SUFFIX
            for entry in found:
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if not (is_folder or entry.name.endswith(wanted)) or settings.excludes_entry(entry.path):
                        continue
                    if ignore is not None and ignore.ignores(entry.path, folder=is_folder):
                        continue
                    if is_folder:
                        pending.append((entry.path, os.path.join(real, entry.name), ignore))
                    elif not entry.is_symlink():
                        if entry.is_file():
                            self._take(entry.path, os.path.join(real, entry.name))
                    elif os.path.isfile(entry.path):
                        self._take(entry.path, os.path.realpath(entry.path))
                except OSError as error:
                    self._report(Path(entry.path), f"cannot be read: {error.strerror}")

    def _take(self, path: str, real: str) -> None:
        # Of several paths to one file, prefer the file's own to that of a link.
        if path == real or real not in self._found:
            self._found[real] = path

    def _report(self, path: Path, message: str) -> None:
        self.problems.append(Problem(display_name(path, self._root), message))


def _is_environment(entries: list[os.DirEntry[str]]) -> bool:
    """Whether a folder with these entries is a virtual environment or one of conda."""
    names = {entry.name for entry in entries}
    if names & {"pyvenv.cfg", "conda-meta"}:
        return True
    for binaries, interpreter in (("bin", "python"), ("Scripts", "python.exe")):
        if binaries in names:
            parent = next(entry.path for entry in entries if entry.name == binaries)
            python = os.path.join(parent, interpreter)
            if os.path.lexists(python) and not os.path.isdir(python):
                return True
    return False
