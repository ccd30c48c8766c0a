"""Copy of a tree in which a command can run: tracked, untracked and ignored files, with uncommitted changes.

Large files are linked, and so are virtual environments: a copy of those would take long and would not work.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rlint.source.files import read_text

LARGE_FILE = 50_000_000
"""Bytes from which on a file is linked, if the file system cannot share its content."""
LARGE_FOLDER = 200_000_000
MANY_FILES = 20_000
"""A folder with this many files is large; it is linked if it contains no Python."""

_LINKED = {"node_modules", ".tox", ".nox"}
_CACHES = {".rlint_cache", ".mypy_cache", ".ruff_cache"}
_PYTHON = (".py", ".pyi", ".so", ".pyd", ".ipynb")
_FICLONE = 0x40049409


@dataclass(frozen=True, slots=True)
class NotCopied:
    """A file or folder that the copy does not have as its own."""

    path: str
    """Relative to the tree."""
    linked: bool
    """It can be read there; writes to it change the tree. Otherwise it is missing."""
    reason: str


def copy_tree(root: Path, target: Path, whole: Collection[Path]) -> tuple[NotCopied, ...]:
    """Copy the folder `root` to `target`, which must not exist. `whole` files, relative to `root`, are never
    linked. Raises OSError if the target cannot be written; unreadable files are left out and returned.
    """
    copier = _Copier(root, target, whole)
    copier.copy("")
    return tuple(copier.left)


@dataclass
class _Size:
    bytes: int = 0
    files: int = 0
    python: bool = False

    def add(self, other: _Size) -> None:
        self.bytes += other.bytes
        self.files += other.files
        self.python = self.python or other.python

    @property
    def is_large(self) -> bool:
        return not self.python and (self.bytes > LARGE_FOLDER or self.files > MANY_FILES)


class _Copier:
    def __init__(self, root: Path, target: Path, whole: Collection[Path]) -> None:
        self._root = root
        self._target = target
        self._whole = {str(path) for path in whole}
        self._above = {str(folder) for path in whole for folder in path.parents}
        self.left: list[NotCopied] = []
        self._large: set[str] = set()
        self._measure("")

    def copy(self, inside: str) -> None:
        """Copy a folder of the tree, with its content."""
        folder = self._target / inside
        folder.mkdir(parents=True)
        try:
            entries = _entries(self._root / inside)
        except OSError as error:
            self._leave(inside or ".", f"cannot be read: {error.strerror}")
            return
        for entry in entries:
            path = os.path.join(inside, entry.name)
            try:
                self._entry(entry, path)
            except PermissionError as error:
                if error.filename == str(self._target / path):
                    raise
                self._leave(path, f"cannot be read: {error.strerror}")
            except FileNotFoundError:
                continue  # gone meanwhile
        with contextlib.suppress(OSError):
            shutil.copystat(self._root / inside, folder)
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o700)

    def _entry(self, entry: os.DirEntry[str], path: str) -> None:
        target = self._target / path
        if entry.is_symlink():
            self._link_as_it_leads(entry.path, target)
        elif path == ".git":
            self._repository(Path(entry.path), target)
        elif entry.is_dir(follow_symlinks=False):
            if entry.name in _CACHES:
                self._leave(path, "a cache")
            elif reason := self._why_linked(entry, path):
                self._link(path, reason)
            else:
                self.copy(path)
        elif entry.is_file(follow_symlinks=False):
            size = entry.stat(follow_symlinks=False).st_size
            if size <= LARGE_FILE or path in self._whole:
                shutil.copy2(entry.path, target)
            elif not _shared(entry.path, target):
                self._link(path, _readable(size))
        else:
            self._leave(path, "neither a file nor a folder")

    def _why_linked(self, entry: os.DirEntry[str], path: str) -> str | None:
        if path in self._above:
            return None
        if entry.name in _LINKED or any(
            os.path.lexists(os.path.join(entry.path, mark)) for mark in ("pyvenv.cfg", "conda-meta")
        ):
            return "installed packages"
        return "much data" if path in self._large else None

    def _repository(self, source: Path, target: Path) -> None:
        """Copy the repository without its objects, which are only read from the original."""
        own = source
        if source.is_file():  # of a work tree or a submodule: the location of the repository
            with contextlib.suppress(ValueError):
                own = source.parent / (read_text(source) or "").partition("gitdir:")[2].strip()
        common = own
        with contextlib.suppress(OSError, ValueError):
            common = own / (read_text(own / "commondir") or "").strip()
        if not (common / "objects").is_dir():
            self._leave(".git", "not a repository")
            return
        target.mkdir()
        for folder in dict.fromkeys((common, own)):
            for entry in _entries(folder):
                if entry.is_file(follow_symlinks=False):
                    shutil.copy2(entry.path, target / entry.name)
                elif entry.is_dir(follow_symlinks=False) and entry.name not in ("objects", "worktrees"):
                    shutil.copytree(entry.path, target / entry.name, symlinks=True, dirs_exist_ok=True)
        for name in ("commondir", "gitdir"):
            (target / name).unlink(missing_ok=True)
        (target / "objects" / "info").mkdir(parents=True)
        shared = os.fsencode(os.path.realpath(common / "objects"))
        (target / "objects" / "info" / "alternates").write_bytes(shared + b"\n")

    def _link_as_it_leads(self, source: str, target: Path) -> None:
        leads = os.readlink(source)
        absolute = os.path.normpath(os.path.join(os.path.dirname(source), leads))
        below = os.path.relpath(absolute, self._root)
        outside = below == os.pardir or below.startswith(os.pardir + os.sep)
        if outside:
            leads = absolute
        elif os.path.isabs(leads):
            leads = os.path.relpath(self._target / below, target.parent)
        os.symlink(leads, target)

    def _link(self, path: str, reason: str) -> None:
        os.symlink(self._root / path, self._target / path)
        self.left.append(NotCopied(Path(path).as_posix(), linked=True, reason=reason))

    def _leave(self, path: str, reason: str) -> None:
        self.left.append(NotCopied(Path(path).as_posix(), linked=False, reason=reason))

    def _measure(self, inside: str) -> _Size:
        """Return how much of a folder would be copied. Large ones without Python are recorded and not
        counted.
        """
        size = _Size()
        try:
            entries = _entries(self._root / inside)
        except OSError:
            return size
        for entry in entries:
            path = os.path.join(inside, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if path != ".git" and entry.name not in _CACHES and not self._why_linked(entry, path):
                    size.add(self._measure(path))
            elif entry.is_file(follow_symlinks=False):
                length = entry.stat(follow_symlinks=False).st_size
                size.add(_Size(0 if length > LARGE_FILE else length, 1, entry.name.endswith(_PYTHON)))
        if inside and inside not in self._above and size.is_large:
            self._large.add(inside)
            return _Size()
        return size


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _shared(source: str, target: Path) -> bool:
    """Copy a file by sharing its content until one of the two is written, if the file system supports
    that.
    """
    if not sys.platform.startswith("linux"):
        return False
    import fcntl

    try:
        with open(source, "rb") as old, open(target, "xb") as new:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        return False
    shutil.copystat(source, target)
    return True


def _readable(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
