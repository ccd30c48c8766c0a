"""Summaries of files from earlier runs: unchanged files are not parsed for their summaries."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from rlint.engine.cache.keys import key_of_summary
from rlint.engine.cache.store import SUMMARY, Cache
from rlint.plain_data import UnpackError, pack, unpack
from rlint.run_data import FileTask
from rlint.semantics.interprocedural.summary import ModuleSummary

_FAST = 1  # level of compression
_MOST_BYTES = 200_000_000


class SummaryCache:
    """The summaries in a folder, each in a file named after a digest of its inputs."""

    def __init__(self, folder: Path) -> None:
        self._cache = Cache(folder)

    def load(self, job: FileTask) -> ModuleSummary | None:
        """Return the summary of a file; None if there is none."""
        return self.load_by_key(key_of_summary(job)) if job.digest else None

    def load_by_key(self, key: str) -> ModuleSummary | None:
        """Return the summary with this digest of its inputs, even if the file has changed."""
        data = self._cache.load_bytes(key + SUMMARY)
        try:
            return None if data is None else from_bytes(data)
        except UnpackError:
            return None

    def store(self, job: FileTask, summary: ModuleSummary) -> None:
        """Store the summary of a file, whose content is known to be that of the task."""
        self._cache.store_bytes(_name(job), to_bytes(summary))


def to_bytes(summary: ModuleSummary) -> bytes:
    """Return a summary as bytes. Raises TypeError for one that contains values which are not plain data."""
    return zlib.compress(json.dumps(pack(summary), separators=(",", ":")).encode("ascii"), _FAST)


def from_bytes(data: bytes) -> ModuleSummary:
    """Return the summary that was passed to `to_bytes`. Raises UnpackError."""
    try:
        said = json.loads(zlib.decompressobj().decompress(data, _MOST_BYTES))
    except (zlib.error, ValueError, RecursionError) as error:
        raise UnpackError(str(error)) from error
    return unpack(said, ModuleSummary)


def holds_summary(cache: Cache, job: FileTask) -> bool:
    """Whether the summary of a file is probably cached, determined without reading it."""
    return bool(job.digest) and cache.holds(_name(job))


def _name(job: FileTask) -> str:
    return key_of_summary(job) + SUMMARY
