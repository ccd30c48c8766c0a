"""The project around the checked files: which other files to analyse, and the names of modules."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from rlint.regex import regex
from rlint.semantics.imports.import_graph import closest
from rlint.semantics.imports.import_scan import ImportScan
from rlint.source.files import NOTEBOOK, display_name
from rlint.syntax.import_statements import SOURCE_FOLDER

_MARKERS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    ".git",
    ".hg",
    "rlint.toml",
    ".rlint.toml",
    "requirements.txt",
)
_SKIPPED = regex(
    r"\..*|__pycache__|venv|build|dist|node_modules|site-packages|third_party|vendor|.*\.egg-info",
    re.IGNORECASE,
)
_MOST_FILES = 5_000
"""Maximum number of files scanned around a few checked ones."""
_BUDGET = 1_200_000
"""Bytes of source read for their information about a few checked files."""


def project_root(path: Path) -> Path | None:
    """Return the nearest folder above `path` that looks like the root of a project."""
    home = os.path.expanduser("~")
    folder = str(path.parent)
    while folder != home and folder != (parent := os.path.dirname(folder)):
        if _is_marked(folder):
            return Path(folder)
        folder = parent
    return None


def _is_marked(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, marker)) for marker in _MARKERS)


def project_files(targets: Sequence[Path], look: Callable[[Path], ImportScan]) -> list[tuple[Path, str]]:
    """Return the other files of the projects that the targets belong to, with their names.

    They are read for information about the targets (callers of a function, attributes of a base class), and
    not checked. A file outside of any project is analysed together with the files beside it. Of a large
    project, only the files nearest to the targets are read. `look` returns the import scan of a file.
    """
    checked = {os.path.abspath(path): Path(os.path.abspath(path)) for path in targets}
    roots: dict[Path, None] = {}
    seen: dict[str, Path] = {}
    for text, path in checked.items():
        name = os.path.dirname(text)
        if name not in seen:
            seen[name] = project_root(path) or path.parent
            roots.setdefault(seen[name])
    outermost = [root for root in roots if roots.keys().isdisjoint(root.parents)]
    found: list[Path] = []
    for root in sorted(outermost):
        others = (path for path in _files(root) if path not in checked)
        found += islice((Path(path) for path in others), _MOST_FILES - len(found))
    if not found:
        return []
    return [(path, display_name(path)) for path in closest(sorted(checked.values()), found, _BUDGET, look)]


def files_around(path: Path) -> list[Path] | None:
    """Return all Python files in the project of a file, related to it or not; None if there are too many to
    scan.
    """
    root = project_root(path) or path.parent
    found = (Path(each) for each in _files(root))
    files = list(islice(found, _MOST_FILES + 1))
    return files if len(files) <= _MOST_FILES else None


def files_of_kind(root: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of a project whose names have one of some endings, hidden ones excluded."""
    found = map(Path, _files(root, endings))
    return (path for path in found if not path.name.startswith("."))


def _files(root: Path, endings: tuple[str, ...] = (".py", NOTEBOOK)) -> Iterator[str]:
    deep = _is_marked(str(root))
    for folder, folders, files in os.walk(root):
        if "pyvenv.cfg" in files or "conda-meta" in folders:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not _SKIPPED.fullmatch(name)) if deep else []
        for name in sorted(files):
            if name.endswith(endings):
                yield os.path.join(folder, name)


def module_names(paths: Sequence[Path]) -> dict[Path, tuple[str, str]]:
    """Return a dotted module name and the package for each file, unique in the run.

    Names are relative to the common folder of all files; a leading `src` is left out.
    """
    if not paths:
        return {}
    files = [os.path.abspath(path) for path in paths]
    try:
        top = os.path.commonpath(list(dict.fromkeys(map(os.path.dirname, files))))
    except ValueError:  # different drives
        top = ""
    while top and os.path.exists(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    names: dict[Path, tuple[str, str]] = {}
    taken: set[str] = set()
    within = top.rstrip(os.sep) + os.sep
    for path, file in zip(paths, files, strict=True):
        stem, suffix = os.path.splitext(file[len(within) :] if top else str(path))
        parts = stem.split(os.sep) if top else list(Path(stem).parts)
        if suffix == NOTEBOOK:
            parts[-1] += "-notebook"  # not a name that an import could mean
        if len(parts) > 1 and parts[0] == SOURCE_FOLDER:
            parts = parts[1:]
        is_package = parts[-1] == "__init__" and len(parts) > 1
        if is_package:
            parts = parts[:-1]
        name = ".".join(part.replace(".", "_") for part in parts)
        while name in taken:
            name += "_"
        taken.add(name)
        names[path] = (name, name if is_package else name.rpartition(".")[0])
    return names
