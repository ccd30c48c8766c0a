"""Results of earlier runs over the same files, for groups of files without changes.

A group's results are stored under a digest of all their inputs: the texts, the names, the selected codes,
rlint itself, the plugins in use and the Python that runs it. The results of all groups of a run are in one
file, named after the targets of the run: a run reads and writes one file, however many groups there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlint.plain_data import UnpackError, pack, unpack
from rlint.run_data import FileResult

if TYPE_CHECKING:
    from rlint.engine.cache.store import Cache
    from rlint.run_data import Target

_PREFIX = "run-"
_OTHERS = 4


class ResultCache:
    """The results of runs over these targets."""

    def __init__(
        self, cache: Cache, targets: Iterable[Target], *, ignore_suppressions: bool, edits: bool = True
    ) -> None:
        self._cache = cache
        self._edits = edits
        digest = hashlib.sha256(b"1" if ignore_suppressions else b"0")
        for target in targets:
            of = target.name if target.codes is not None else f"-{target.name}"
            digest.update(of.encode("utf-8", "surrogateescape") + b"\0")
        self.name = f"{_PREFIX}{digest.hexdigest()[:32]}"
        self.names = [self.name]
        """The runs with known results: this one or, if it has none, the last ones over other files, most of
        which are the same if a file was added or removed.
        """
        kept = cache.load(self.name)
        if not isinstance(kept, dict):
            kept = {}
            self.names = [self.name, *cache.newest(_PREFIX, _OTHERS)]
            for name in self.names[1:]:
                other = cache.load(name)
                kept = {**other, **kept} if isinstance(other, dict) else kept
        self._kept: dict[str, Any] = kept
        self._used: dict[str, Any] = {}

    def load(self, key: str) -> list[FileResult] | None:
        """Return the results under a key; None if there are none, or without the requested edits. They are
        kept in the cache.
        """
        results = self.peek(key)
        if results is None or not all(map(self.is_usable, results)):
            return None
        self._used[key] = self._kept[key]
        return results

    def is_usable(self, result: FileResult) -> bool:
        """Whether a result contains all that is requested."""
        return not self._edits or result.has_edits

    def peek(self, key: str) -> list[FileResult] | None:
        """Return the same, without marking them as used."""
        plain = self._kept.get(key)
        if plain is None:
            return None
        try:
            return [unpack(data, FileResult) for data in plain]
        except (UnpackError, TypeError):
            return None

    def add(self, key: str, results: Sequence[FileResult]) -> None:
        """Add results, unless a bug of rlint affected them."""
        if not any(problem.is_bug for result in results for problem in result.problems):
            self._used[key] = [pack(replace(result, hidden=())) for result in results]

    def save(self) -> None:
        """Write the results of this run; results for other contents of the files are removed."""
        self._cache.store(self.name, self._used)
