"""Results at a URL: small files that are written once, found by content, and readable from any node.

Damaged or truncated files are treated as absent: the work is repeated. Everything that is read is data, never
code.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import posixpath
import zlib
from pathlib import Path
from typing import IO, Any

from rlint.errors import RlintError
from rlint.survey.credentials import scrubbed, without_credentials
from rlint.survey.extra import needed

_MOST_BYTES = 500_000_000
_FAST = 1


class ResultStore:
    """A folder at any URL that `fsspec` supports: `s3://bucket/folder`, `gs://…`, or a path."""

    def __init__(self, url: str) -> None:
        self.name = without_credentials(url)
        self._url = url
        fsspec = needed("fsspec.core")
        try:
            self._files, self._root = fsspec.url_to_fs(url)
        except (ImportError, OSError, ValueError) as error:
            raise RlintError(
                f"{self.name}: cannot be used to keep results: {scrubbed(str(error), url)}"
            ) from None
        self._is_local = "file" in _protocols(self._files)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        try:
            content: bytes = self._files.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._error("read", name, error) from None
        return content if len(content) <= _MOST_BYTES else None

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step: concurrent readers never see a part of it."""
        path = self._path(name)
        try:
            if self._is_local:
                from rlint.source.atomic_write import replace_file

                target = Path(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                replace_file(target, content, sync=False)
            else:
                self._files.pipe_file(path, content)
        except OSError as error:
            raise self._error("written", name, error) from None

    def open_to_write(self, name: str) -> IO[bytes]:
        """Open a file for writing in pieces."""
        path = self._path(name)
        try:
            self._files.makedirs(posixpath.dirname(path), exist_ok=True)
            opened: IO[bytes] = self._files.open(path, "wb")
        except OSError as error:
            raise self._error("written", name, error) from None
        return opened

    def folders(self, name: str) -> list[str]:
        """Return the names of the folders in a folder, sorted."""
        try:
            found = self._files.ls(self._path(name), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._error("read", name, error) from None
        return sorted(
            posixpath.basename(one["name"].rstrip("/")) for one in found if one["type"] == "directory"
        )

    def load(self, name: str) -> Any:
        """Return plain data; None if it does not exist or cannot be read."""
        content = self.read(name)
        return None if content is None else data_of(content)

    def store(self, name: str, value: object) -> None:
        """Store plain data."""
        self.write(name, bytes_of(value))

    def address(self, name: str) -> str:
        """Return the displayed location of a file."""
        return f"{self.name.rstrip('/')}/{name}"

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _error(self, what: str, name: str, error: OSError) -> RlintError:
        reason = scrubbed(error.strerror or str(error), self._url)
        return RlintError(f"{self.address(name)}: cannot be {what}: {reason}")


def bytes_of(value: object) -> bytes:
    """Return plain data as bytes: the same for equal data."""
    text = json.dumps(value, separators=(",", ":")).encode("ascii")
    return gzip.compress(text, _FAST, mtime=0)


def data_of(content: bytes) -> Any:
    """Return the plain data that was passed to `bytes_of`; None for damaged data, or for data that would be
    too large.
    """
    try:
        unpacker = zlib.decompressobj(wbits=31)
        text = unpacker.decompress(content, _MOST_BYTES)
        return json.loads(text) if unpacker.eof else None
    except (zlib.error, ValueError, RecursionError):
        return None


def name_of_result(content: str) -> str:
    """Return the name of the findings with this digest."""
    return f"results/{content[:2]}/{content}.json.gz"


def name_of_groups(*parts: str) -> str:
    """Return the name under which the groups of a repository, or of a part of it, are stored."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    return f"groups/{digest[:2]}/{digest}.json.gz"


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)
