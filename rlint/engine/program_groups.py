"""Groups of files that no program of their project imports, while programs in other groups train: what an
attempt has left behind, or the copy of a library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rlint.models.vocabulary import READ_CLASS_NAMES
from rlint.regex import regex
from rlint.run_data import FileTask
from rlint.semantics.imports.import_scan import ImportScan
from rlint.semantics.imports.project_files import project_root
from rlint.semantics.imports.test_files import is_in_tests, is_named_like_tests
from rlint.source.files import NOTEBOOK, read_regular

_FAR_MORE = 2
"""Minimum number of files or folders with programs that train, for each one beside them without."""
_PACKAGED = ("setup.py", "setup.cfg")
_BUILT = regex(rb"(?m)^\s*\[(build-system|tool\.poetry)\b")
_MOST_BYTES = 100_000


def placed_next_to_programs(
    groups: Sequence[Sequence[FileTask]], scans: Mapping[Path, ImportScan]
) -> list[list[FileTask]]:
    """Return groups of tasks in which files are marked that no program imports, though far more of the files
    around them belong to programs that train. Only files to check are considered: of others, a run may know
    a part. What a package offers to other programs is left out, and so are projects that import modules by
    names known only at run time.
    """
    training = {id(group) for group in groups if _is_training_program(group, scans)}
    if not training or len(training) == len(groups):
        return [list(group) for group in groups]
    projects = _Projects([(job, id(group) in training) for group in groups for job in group], scans)
    return [
        list(group)
        if id(group) in training
        else [replace(job, is_next_to_programs=True) if projects.leave_out(job) else job for job in group]
        for group in groups
    ]


class _Projects:
    """The files to check of each project, and whether they belong to a program that trains."""

    def __init__(self, files: Sequence[tuple[FileTask, bool]], scans: Mapping[Path, ImportScan]) -> None:
        self._roots: dict[str, str] = {}
        self._used: dict[str, dict[str, bool]] = {}
        checked = [(job, used) for job, used in files if job.codes is not None and not _is_test(job)]
        for root, members in groupby(sorted(checked, key=lambda file: self._root(file[0])), self._root_of):
            part = list(members)
            if not any(_names_modules(scans[job.path]) for job, _ in part) and not _is_packaged(root):
                for job, used in part:
                    if used or not is_named_like_tests(job.name, job.module):
                        self._note(root, os.path.abspath(job.path), used=used)

    def leave_out(self, job: FileTask) -> bool:
        """Whether far more of the files beside a file, or of the files and folders beside a folder around it
        without programs, belong to programs that train.
        """
        if job.codes is None or _is_test(job):
            return False
        root, place = self._root(job), os.path.abspath(job.path)
        while place != root:
            folder, name = os.path.split(place)
            parts = self._used.get(folder, {})
            if parts.get(name, True):
                return False
            used = sum(parts.values())
            if used >= _FAR_MORE * (len(parts) - used):
                return True
            place = folder
        return False

    def _note(self, root: str, place: str, *, used: bool) -> None:
        while place != root:
            folder, name = os.path.split(place)
            parts = self._used.setdefault(folder, {})
            parts[name] = parts.get(name, False) or used
            place = folder

    def _root_of(self, file: tuple[FileTask, bool]) -> str:
        return self._root(file[0])

    def _root(self, job: FileTask) -> str:
        path = Path(os.path.abspath(job.path))
        folder = str(path.parent)
        if folder not in self._roots:
            self._roots[folder] = str(project_root(path) or path.parent)
        return self._roots[folder]


def _is_training_program(group: Sequence[FileTask], scans: Mapping[Path, ImportScan]) -> bool:
    """Whether a group has files to check, and code that starts something and that takes gradient steps."""
    own = [job for job in group if job.codes is not None and not _is_test(job)]
    return any(_starts(job, scans) for job in own) and any(scans[job.path].trains for job in own)


def _starts(job: FileTask, scans: Mapping[Path, ImportScan]) -> bool:
    return job.path.suffix == NOTEBOOK or scans[job.path].starts


def _is_test(job: FileTask) -> bool:
    return is_in_tests(job.name, job.module)


def _names_modules(scan: ImportScan) -> bool:
    """Whether a file may get any module of the project by a name known only at run time."""
    return scan.loads or any(name.partition(".")[0] in READ_CLASS_NAMES for name in scan.imports)


def _is_packaged(root: str) -> bool:
    """Whether other programs can install the files of a project."""
    if any(os.path.exists(os.path.join(root, name)) for name in _PACKAGED):
        return True
    content = read_regular(Path(root, "pyproject.toml"), _MOST_BYTES)
    return content is not None and _BUILT.search(content) is not None
