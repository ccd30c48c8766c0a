"""Status of files and folders in earlier runs, so that unchanged ones are not read again.

A file counts as unchanged if its size, its inode and its times of change are the same, and if it was older,
when it was read, than the resolution of the file system's clock: of two changes within a tick, the second one
is not visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlint.semantics.imports.import_scan import ImportScan, glance_at_file, read_file
from rlint.source.files import FileStamp, stamp_of

if TYPE_CHECKING:
    from rlint.engine.cache.store import Cache

_NAME = "files"
_MOST = 20_000
"""Maximum number of files in the cache."""
_FINE, _COARSE = 100_000_000, 2_000_000_000
"""Minimum age of a file in nanoseconds: if its times have a resolution below a millisecond, and if not."""


class StatCache:
    """Scans files, and caches the results. Without a cache, it scans every file."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache
        self._kept: dict[str, list[Any]] = {}
        self._ignored: dict[str, dict[str, bool]] = {}
        self._of = ""
        if cache is not None and cache.is_usable:
            from rlint.engine.cache.keys import own_digest

            self._of = own_digest().hex()
            kept = cache.load(_NAME)
            if isinstance(kept, dict) and kept.get("of") == self._of:
                self._kept, self._ignored = kept["files"], kept["ignored"]
        self._known_decisions = sum(map(len, self._ignored.values()))
        self._used: dict[str, list[Any]] = {}
        self._is_new = False

    def glance(self, path: Path, read: Callable[[Path], bytes | None] = read_file) -> ImportScan:
        """Return the import scan of a file; call `read` only if the file must be read."""
        if not self._of:
            return glance_at_file(path, read)
        name = str(path)
        now = time.time_ns()
        stamp = stamp_of(name)
        known = self._kept.get(name)
        if known is not None and known[0] == stamp:
            self._used[name] = known
            return _glance(known[1])
        seen = glance_at_file(path, read)
        if stamp is not None and _is_settled(stamp, now) and stamp_of(name) == stamp:
            self._used[name] = [stamp, list(seen)]
            self._is_new = True
        return seen

    def decisions(self, rules: str) -> dict[str, bool]:
        """Return, for the given ignore rules (by digest), the paths decided so far; callers add to it."""
        return self._ignored.setdefault(rules, {})

    def save(self) -> None:
        """Write the cache, if any of it is new."""
        decisions = sum(map(len, self._ignored.values()))
        if self._cache is None or not self._of or not (self._is_new or decisions != self._known_decisions):
            return
        others = (each for each in self._kept.items() if each[0] not in self._used)
        files = self._used | dict(islice(others, max(0, _MOST - len(self._used))))
        ignored = self._ignored if decisions <= _MOST else {}
        self._cache.store(_NAME, {"of": self._of, "files": files, "ignored": ignored})
        self._is_new, self._known_decisions = False, decisions


def _is_settled(stamp: FileStamp, now: int) -> bool:
    *_, modified, changed = stamp
    age = _FINE if changed % 1_000_000 else _COARSE
    return now - max(modified, changed) > age


def _glance(data: list[Any]) -> ImportScan:
    digest, size, imports, relative, stars, words, mentions_learning, calls, loads, starts, trains = data
    return ImportScan(
        digest,
        size,
        tuple(imports),
        tuple((source, tuple(names)) for source, names in relative),
        tuple(stars),
        words,
        mentions_learning,
        calls,
        loads,
        starts,
        trains,
    )
