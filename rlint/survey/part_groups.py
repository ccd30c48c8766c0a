"""The groups of files that a task checks, and the stored part of their results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlint.engine.cache.keys import key_of
from rlint.errors import RlintError
from rlint.plain_data import UnpackError, pack, unpack
from rlint.run_data import FileResult, FileTask


class SplitNeededError(RlintError):
    """There is more to check than one task allows."""

    def __init__(self, parts: int, content: str) -> None:
        super().__init__("too large for one task")
        self.parts, self.content = parts, content


class ContentChangedError(RlintError):
    """The files have changed since the parts were planned."""


class PartGroups:
    """The groups of one part of a repository, and their results, by all of their inputs.

    The groups of a part follow from the content alone, so that all tasks agree on them.
    """

    def __init__(
        self,
        tool: str,
        known: Mapping[str, Any],
        *,
        part: int = 0,
        parts: int = 1,
        most: int,
        content: str = "",
    ) -> None:
        self._tool = tool.encode("ascii")
        self._known = known
        self._part, self._parts, self._most, self._content = part, parts, most, content
        self.kept: dict[str, Any] = {}
        """The results of all groups of the part, packed."""
        self.files = self.size = self.reused = 0

    def chosen(self, groups: Sequence[Sequence[FileTask]]) -> Sequence[Sequence[FileTask]]:
        """Return the groups of the part. Raises SplitNeededError, or ContentChangedError."""
        content = self._content_of(groups)
        if self._parts > 1 and content != self._content:
            raise ContentChangedError("it changed while it was checked")
        sizes = [_size(group) for group in groups]
        parts = min(len(groups), -(-sum(sizes) // self._most))
        if self._parts == 1 and parts > 1:
            raise SplitNeededError(parts, content)
        own_part = self._share(groups, sizes)
        checked = [job for group in own_part for job in group if job.codes is not None]
        self.files, self.size = len(checked), sum(job.size for job in checked)
        return own_part

    def load(self, group: Sequence[FileTask]) -> Sequence[FileResult] | None:
        """Return the results that an earlier run stored for a group."""
        key = self._key(group)
        known = self._known.get(key) if key else None
        if not isinstance(known, list):
            return None
        try:
            results = [unpack(each, FileResult) for each in known]
        except (UnpackError, TypeError):
            return None
        if {each.name for each in results} - {job.name for job in group}:
            return None
        self.kept[key] = known
        self.reused += len(results)
        return results

    def add(self, group: Sequence[FileTask], results: Sequence[FileResult]) -> None:
        """Store results, unless a bug of rlint affected them."""
        key = self._key(group)
        if key and not any(problem.is_bug for each in results for problem in each.problems):
            self.kept[key] = [pack(replace(each, hidden=())) for each in results]

    def _share(self, groups: Sequence[Sequence[FileTask]], sizes: Sequence[int]) -> list[Sequence[FileTask]]:
        """Return the groups of this part, such that all parts read about the same amount."""
        if self._parts == 1:
            return list(groups)
        loads = [0] * self._parts
        own_part = []
        for size, group in sorted(
            zip(sizes, groups, strict=True), key=lambda each: (-each[0], each[1][0].name)
        ):
            number = loads.index(min(loads))
            loads[number] += max(size, 1)
            if number == self._part:
                own_part.append(group)
        return own_part

    def _key(self, group: Sequence[FileTask]) -> str:
        """Return the key of a group's results; "" if one of its files cannot be read."""
        if not all(job.digest for job in group):
            return ""
        return key_of([(job, job.digest) for job in group], ignore_suppressions=False, own=self._tool)

    def _content_of(self, groups: Sequence[Sequence[FileTask]]) -> str:
        said = sorted(f"{job.name}\0{job.digest}" for group in groups for job in group)
        return hashlib.sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()


def _size(group: Sequence[FileTask]) -> int:
    return sum(job.size for job in group)
