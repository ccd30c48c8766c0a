"""Configurations: YAML files from which programs read their settings. No import connects them to a program:
all of its project count for each program that imports a library which reads such files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from rlint.models.vocabulary import READ_SETTINGS
from rlint.run_data import FileTask
from rlint.semantics.frequency.branches.declared_options import options_of_configuration
from rlint.semantics.frequency.program_settings import settings_of_configuration
from rlint.semantics.imports.project_files import files_of_kind, project_root
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.source.files import read_regular

_ENDINGS = (".yaml", ".yml")
_MOST_FILES = 200
"""Maximum number of files: projects with more keep the settings of past runs, or data, in most of them. Then
no settings are known, because the others may turn on any option.
"""
_MOST_BYTES = 64_000
"""Maximum size of a file: larger ones are data, such as recorded results. People write a few hundred lines,
about 10,000 bytes.
"""


class Configurations:
    """Finds the configurations for groups of files; each project is searched once, and only if a program in
    it reads such files.
    """

    def __init__(self) -> None:
        self._known: dict[Path, list[FileTask]] = {}

    def of(self, group: Sequence[FileTask], imports: Iterable[Collection[str]]) -> list[FileTask]:
        """Return the tasks of the configurations for a group of files, given what each of them imports."""
        if not any(path.partition(".")[0] in READ_SETTINGS for each in imports for path in each):
            return []
        files = [Path(os.path.abspath(job.path)) for job in group if job.codes is not None]
        roots = {project_root(file) or file.parent for file in files}
        return [task for root in sorted(roots) for task in self._in(root)]

    def _in(self, root: Path) -> list[FileTask]:
        if root not in self._known:
            paths = list(islice(files_of_kind(root, _ENDINGS), _MOST_FILES + 1))
            number = len(self._known)
            self._known[root] = (
                [task for path in paths if (task := _task(path, root, number)) is not None]
                if len(paths) <= _MOST_FILES
                else []
            )
        return self._known[root]


def _task(path: Path, root: Path, number: int) -> FileTask | None:
    content = read_regular(path, _MOST_BYTES)
    if content is None:
        return None
    name = f"configuration {number}/{path.relative_to(root).as_posix()}"
    digest = hashlib.sha256(content).hexdigest()
    return FileTask(
        path, name, name, "", None, None, len(content), digest=digest, content=content, is_configuration=True
    )


@lru_cache(maxsize=256)  # all programs of a project have the same ones
def configuration_summary(task: FileTask) -> ModuleSummary:
    """Return the settings in a file; none if it is no YAML."""
    from rlint.source.yaml_values import yaml_values  # only if there are such files

    summary = ModuleSummary(task.module, task.name, "", is_configuration=True)
    values = yaml_values(task.content or b"")
    summary.options = options_of_configuration(values)
    summary.settings = settings_of_configuration(values)
    return summary
