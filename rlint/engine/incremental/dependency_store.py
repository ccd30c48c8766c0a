"""Queries of the files of a group, stored between runs.

If one of the files has changed, those of the others whose queries have the same answers as before need not be
checked again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field

from rlint.engine.cache.store import QUERIES, Cache
from rlint.engine.incremental.dependencies import Dependencies
from rlint.frozen import frozen
from rlint.run_data import FileTask

_FAST = 1  # level of compression
_MOST_BYTES = 500_000_000


@frozen
class Before:
    """The state of a group when its files were checked.

    `key` is the key of their cached results. `files` contains two digests by file name: of the inputs of a
    file's summary, and of the inputs of its own check besides the other files.
    """

    key: str
    files: dict[str, tuple[str, str]]
    queries: Dependencies = field(default_factory=Dependencies)


class DependencyStore:
    """The queries in the groups of files of some runs. One file for each group contains its last state."""

    def __init__(self, cache: Cache, runs: Sequence[str]) -> None:
        self._cache = cache
        self._runs = runs

    def load(self, group: Sequence[FileTask]) -> Before | None:
        """Return the record of the most recent run that checked a group; None if there is none."""
        found = (self._cache.load_bytes(_name(group, run)) for run in self._runs)
        data = next((data for data in found if data is not None), None)
        if data is None:
            return None
        try:
            said = json.loads(zlib.decompressobj().decompress(data, _MOST_BYTES))
            texts: list[str] = [text for text, _ in said["answers"]]
            files = {name: (summary, own) for name, summary, own, _ in said["files"]}
            queries = {name: [texts[each] for each in of] for name, *_, of in said["files"] if of is not None}
            answers = dict(said["answers"])
            return Before(said["key"], files, Dependencies(queries, dict.fromkeys(queries, answers)))
        except (zlib.error, LookupError, TypeError, ValueError, RecursionError):
            return None

    def store(self, group: Sequence[FileTask], now: Before) -> None:
        """Store the queries of a group, under the first of the runs."""
        answers = now.queries.answers
        numbers = {text: number for number, text in enumerate(answers)}
        files = [
            [name, summary, own, _numbered(name, now.queries, numbers)]
            for name, (summary, own) in now.files.items()
        ]
        said = {"key": now.key, "answers": list(answers.items()), "files": files}
        text = json.dumps(said, separators=(",", ":"))
        self._cache.store_bytes(_name(group, self._runs[0]), zlib.compress(text.encode("ascii"), _FAST))


def _name(group: Sequence[FileTask], run: str) -> str:
    """Return the same name for a group whose files have changed: derived from the first of those that are
    checked.
    """
    first = min(job.name for job in group if job.codes is not None)
    digest = hashlib.sha256(f"{run} {first}".encode("utf-8", "surrogateescape"))
    return f"{digest.hexdigest()[:32]}{QUERIES}"


def _numbered(name: str, queries: Dependencies, numbers: Mapping[str, int]) -> list[int] | None:
    texts = queries.files.get(name)
    return None if texts is None else [numbers[text] for text in texts]
