"""Files that a run writes, and their contents afterwards."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

from rlint.harness.compare.texts import settled

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NAMED_FIRST = ("os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.mkfifo", "sqlite3.connect")
_NAMED_TWICE = ("os.rename", "os.link", "os.symlink")
_NO_FILES = ("/dev", "/proc", "/sys")
_MOST_BYTES = 32 * 2**20
"""Maximum size of a file that is kept to be restored."""
_MOST_SHOWN = 2**16
_MOST_ENTRIES = 2_000
_FOLDER = "a folder"
_LARGE = "a large file"

_State: TypeAlias = bytes | str | None
"""State of a path: the bytes of a file, a word for anything else, None if it does not exist."""


class FileWatch:
    """Records files written while it is active, and restores them: each run starts from the same files.

    Python reports every file that it opens. Files written by libraries and child processes are detected in
    the working folder and in those of `folders`.
    """

    def __init__(self, folders: tuple[str, ...] = ()) -> None:
        self.folders = folders
        self._before: dict[str, _State] = {}
        """The state at the start of the run, for the paths that it has touched."""
        self._originals: dict[str, _State] = {}
        """The state when the first run since `put_back` started."""
        self._cwd = ""
        self._entries: dict[str, tuple[int, int]] = {}

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Watch files within the context."""
        _install_hook()
        self._before.clear()
        self._cwd = _folder()
        self._entries = self._listed()
        _active.append(self)
        try:
            with _torch_saves_reported(self.touch):
                yield
        finally:
            _active.pop()

    def touch(self, path: Any) -> None:
        """Record that a path is about to be written."""
        if isinstance(path, int):
            return
        try:
            place = os.path.abspath(os.fsdecode(path))
        except (TypeError, ValueError, OSError):
            return
        if place in self._before or place.startswith(_NO_FILES) or place.endswith(".pyc"):
            return
        self._note(place, _state(place))

    def _note(self, place: str, state: _State) -> None:
        self._before[place] = state
        self._originals.setdefault(place, state)

    def changed(self) -> dict[str, str | None]:
        """Return the content of each changed path, None if it no longer exists."""
        now = self._listed()
        for place in self._entries.keys() | now.keys():
            if self._entries.get(place) != now.get(place) and place not in self._before:
                self._note(place, _LARGE if place in self._entries else None)
        found: dict[str, str | None] = {}
        for place, before in sorted(self._before.items()):
            state = _state(place)
            if state != before or before == _LARGE:
                name = label = self._label(place)
                number = 1
                while name in found:
                    number += 1
                    name = f"{label} ({number})"
                found[name] = _shown(state)
        return found

    def put_back(self) -> None:
        """Remove created files and restore changed ones, as far as possible."""
        for place, before in sorted(self._originals.items(), reverse=True):  # the content of a folder first
            state = _state(place)
            if before in (state, _LARGE):
                continue
            with contextlib.suppress(OSError):
                if before is None:
                    (os.rmdir if state == _FOLDER else os.unlink)(place)
        for place, before in sorted(self._originals.items()):
            with contextlib.suppress(OSError):
                if before == _FOLDER:
                    Path(place).mkdir(exist_ok=True)
                elif isinstance(before, bytes) and _state(place) != before:
                    Path(place).write_bytes(before)
        self._originals.clear()

    def _label(self, place: str) -> str:
        inside = self._cwd.rstrip(os.sep) + os.sep
        return place.removeprefix(inside) if place.startswith(inside) else settled(place)

    def _listed(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for folder in {self._cwd, *self.folders}:
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if len(found) > _MOST_ENTRIES:
                        return {}  # too many to examine after each run
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found[entry.path] = (status.st_mtime_ns, status.st_size)
        return found


_active: list[FileWatch] = []
"""The active watch, if there is one."""


@functools.cache
def _install_hook() -> None:
    """Install a hook that is called for each opened file. The hook remains installed, and does nothing while
    no watch is active.
    """
    sys.addaudithook(_on_audit_event)


def _on_audit_event(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active:
        return
    watch = _active[-1]
    if event == "open":
        path, mode, flags = arguments
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & _WRITING:
            watch.touch(path)
    elif event in _NAMED_FIRST:
        watch.touch(arguments[0])
    elif event in _NAMED_TWICE:
        watch.touch(arguments[0])
        watch.touch(arguments[1])


@contextlib.contextmanager
def _torch_saves_reported(touch: Callable[[Any], None]) -> Iterator[None]:
    """Report the files that `torch.save` writes, for which Python calls no hook."""
    serialization: Any = sys.modules.get("torch.serialization")
    opener = getattr(serialization, "_open_zipfile_writer", None)
    if opener is None:
        yield
        return

    def noted(name: Any) -> Any:
        if isinstance(name, (str, os.PathLike)):
            touch(name)
        return opener(name)

    with mock.patch.object(serialization, "_open_zipfile_writer", noted):
        yield


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep


def _state(place: str) -> _State:
    try:
        found = os.lstat(place)
        if stat.S_ISDIR(found.st_mode):
            return _FOLDER
        if stat.S_ISLNK(found.st_mode):
            return f"a link to {settled(os.readlink(place))}"
        if not stat.S_ISREG(found.st_mode):
            return "no plain file"
        if found.st_size > _MOST_BYTES:
            return _LARGE
        return Path(place).read_bytes()
    except OSError:
        return None


def _shown(state: _State) -> str | None:
    if not isinstance(state, bytes):
        return state
    if len(state) > _MOST_SHOWN:
        return f"{len(state):,} bytes, {hashlib.sha256(state).hexdigest()[:16]}"
    return settled(state.decode("utf-8", errors="backslashreplace"))
