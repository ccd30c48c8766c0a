"""Loaders: files that get modules whose names are known only at run time, as code does that loads the rewards
named on the command line. No import connects them to the programs whose modules they may change or list.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rlint.run_data import FileTask
from rlint.semantics.imports.import_scan import ImportScan
from rlint.semantics.imports.project_files import project_root
from rlint.semantics.imports.test_files import is_in_tests


class Loader(NamedTuple):
    """The task to read a loader, and the folder of its project, with a separator at its end."""

    task: FileTask
    within: str


def loaders_in(
    scans: Mapping[Path, ImportScan], texts: Mapping[Path, str], contents: Mapping[Path, bytes]
) -> list[Loader]:
    """Return the loaders among files, without tests. Their tasks have names of their own, because a group may
    contain the same file as a part of its program.
    """
    found = []
    roots: dict[Path, int] = {}
    for path in sorted(path for path, scan in scans.items() if scan.loads):
        file = Path(os.path.abspath(path))
        root = project_root(file) or file.parent
        inside = file.relative_to(root).as_posix()
        if is_in_tests(inside, ""):
            continue
        name, scan = f"loader {roots.setdefault(root, len(roots))}/{inside}", scans[path]
        task = FileTask(
            path,
            name,
            name.replace(".", "_"),  # a name that no import means
            "",
            None,
            texts.get(path),
            scan.size,
            calls=scan.calls,
            digest=scan.digest,
            content=contents.get(path),
            is_loader=True,
        )
        found.append(Loader(task, os.path.join(root, "")))
    return found


def loaders_of(group: Sequence[FileTask], loaders: Sequence[Loader]) -> list[FileTask]:
    """Return the tasks of the loaders outside of a group that may load one of its files."""
    if not loaders:
        return []
    own = {job.path for job in group}
    files = [os.path.abspath(job.path) for job in group if job.codes is not None]
    roots = {loader.within for loader in loaders}
    meant = {root for root in roots if any(file.startswith(root) for file in files)}
    return [loader.task for loader in loaders if loader.within in meant and loader.task.path not in own]
