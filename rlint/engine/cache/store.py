"""Store of cached data of earlier runs, in files: data only, each readable on its own.

Damaged, truncated or missing files are treated as absent. So are files of other origin: a folder of results
may come with code that was checked out, and each file is signed with a key in the user's folder, not beside
it. A file's content identifies its inputs, so that nothing is ever stale, and two concurrent runs may both
write. Nothing is read or written through a link: checked-out code could otherwise choose a file anywhere for
rlint to write.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rlint
from rlint.regex import regex
from rlint.source.files import read_regular
from rlint.source.links import is_link

FOLDER = ".rlint_cache"
_KEY_BYTES, _MOST_BYTES = 32, 200_000_000
_VERSION = regex(r"\d+\.\d+[\w.+-]*", re.ASCII)
SUMMARY = ".summary"
"""Suffix of files with the summaries of modules."""
QUERIES = ".asked"
"""Suffix of files with the queries that the checks of files made about one another."""
_SUFFIXES = (".json", SUMMARY, QUERIES, ".tmp")
MOST_FILES, MOST_SUMMARIES, MOST_QUERIES = 2_000, 20_000, 500
"""If there are more, the oldest half is deleted."""
_TAG_NAME = "CACHEDIR.TAG"
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of rlint. It can be deleted.\n"


class Cache:
    """A folder of results. A failure to read or write is never an error: the work is repeated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._results = folder / rlint.__version__
        self._key = None if _leads_away(folder, self._results) else own_key()

    @property
    def is_usable(self) -> bool:
        """Whether results can be stored: the folder is not a link, and there is a key to sign them with."""
        return self._key is not None

    @property
    def holds_anything(self) -> bool:
        """Whether an earlier run of this version has stored anything here."""
        return self._results.is_dir()

    def load(self, name: str) -> Any:
        """Return the plain data stored under a name; None if there is none that rlint wrote for this user."""
        text = self.load_bytes(f"{name}.json")
        try:
            return None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None

    def store(self, name: str, value: object) -> None:
        """Store plain data under a name."""
        with contextlib.suppress(ValueError):
            self.store_bytes(f"{name}.json", json.dumps(value, separators=(",", ":")).encode("ascii"))

    def holds(self, name: str) -> bool:
        """Whether a file of this name exists, valid or not."""
        return self._key is not None and os.path.exists(os.path.join(self._results, name))

    def newest(self, prefix: str, most: int) -> list[str]:
        """Return the names with a prefix under which plain data is stored: most recently used first."""
        with contextlib.suppress(OSError):
            files = [(path.lstat().st_mtime, path.stem) for path in self._results.glob(f"{prefix}*.json")]
            return [name for _, name in sorted(files, reverse=True)[:most]] if self._key is not None else []
        return []

    def load_bytes(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none that rlint wrote for this user."""
        if self._key is None:
            return None
        path = os.path.join(self._results, name)
        check, _, data = (read_regular(path, _MOST_BYTES, linked=False) or b"").partition(b"\n")
        try:
            if not hmac.compare_digest(check, self._signature(name, data)):
                return None
            os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)  # used: stays longest
        except (OSError, ValueError):
            return None
        return data

    def store_bytes(self, name: str, data: bytes) -> None:
        """Store a file."""
        if self._key is None:
            return
        from rlint.source import atomic_write

        with contextlib.suppress(OSError, ValueError):
            if not self._results.is_dir():
                self._make()
            atomic_write.replace_file(
                self._results / name, self._signature(name, data) + b"\n" + data, sync=False
            )

    def tidy(self) -> None:
        """Delete the oldest results if there are many, and those of other versions."""
        if self._key is None:
            return
        with contextlib.suppress(OSError):
            for other in self.folder.iterdir() if self._is_own_folder() else ():
                # only files that rlint may have created: the configured folder may belong to other programs
                if _VERSION.fullmatch(other.name) and other != self._results and not is_link(other):
                    _empty(path for path in other.iterdir() if path.suffix in _SUFFIXES)
                    with contextlib.suppress(OSError):
                        other.rmdir()
            for suffix, most in ((".json", MOST_FILES), (SUMMARY, MOST_SUMMARIES), (QUERIES, MOST_QUERIES)):
                files = [(path.lstat().st_mtime, path) for path in self._results.glob(f"*{suffix}")]
                if len(files) > most:
                    _empty(path for _, path in sorted(files)[: len(files) - most // 2])

    def clear(self) -> bool:
        """Delete everything that rlint has stored here, of all versions, and the folder if nothing else is in
        it; return whether there was anything. Links and files of other origin are not deleted.
        """
        if is_link(self.folder) or not (self.folder.is_dir() and self._is_own_folder()):
            return False
        for version in list(self.folder.iterdir()):
            if _VERSION.fullmatch(version.name) and not is_link(version):
                _empty(path for path in version.iterdir() if path.suffix in _SUFFIXES)
                with contextlib.suppress(OSError):
                    version.rmdir()
        left = {path.name for path in self.folder.iterdir()}
        if left <= {_TAG_NAME, ".gitignore"}:
            _empty(self.folder / name for name in left)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
        return True

    def _signature(self, key: str, text: bytes) -> bytes:
        assert self._key is not None
        return hmac.new(self._key, key.encode() + text, "sha256").hexdigest().encode("ascii")

    def _make(self) -> None:
        # A folder with other contents is not marked: git and backups continue to include it.
        is_own = self._is_own_folder() or not self.folder.is_dir() or not any(self.folder.iterdir())
        self._results.mkdir(parents=True, exist_ok=True)
        if is_own:
            from rlint.source import atomic_write

            for name, text in ((_TAG_NAME, _TAG), (".gitignore", b"*\n")):
                with contextlib.suppress(FileExistsError):  # a dangling link exists, too
                    atomic_write.create_file(self.folder / name, text)

    def _is_own_folder(self) -> bool:
        """Whether the folder was created for results, judging by its name or by rlint's marker in it."""
        tag = self.folder / _TAG_NAME
        return self.folder.name == FOLDER or read_regular(tag, len(_TAG), linked=False) == _TAG


def _leads_away(*folders: Path) -> bool:
    """Whether one of the folders is a link: files would be written elsewhere."""
    return any(map(is_link, folders))


@functools.cache
def own_key() -> bytes | None:
    """Return the user's key, which is created if there is none; None if it can neither be read nor
    created.
    """
    folder = own_folder()
    if folder is None:
        return None
    try:
        path = folder / "key"
        for _ in range(2):
            key = read_regular(path)
            if key is not None and len(key) == _KEY_BYTES:
                return key
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, os.urandom(_KEY_BYTES), damaged=key is not None)
    except OSError:
        return None
    return None


def own_folder() -> Path | None:
    """Return rlint's folder in the user's home, which may not exist; None without a home."""
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "rlint"
    except RuntimeError:
        return None


def _write_once(path: Path, key: bytes, *, damaged: bool) -> None:
    """Write a key, unless another process was faster: all processes have to sign with the same one."""
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
        if damaged or not hasattr(os, "link"):
            os.replace(name, path)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _empty(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
