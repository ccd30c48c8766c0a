"""What chooses the groups of files that a run checks, and keeps their results elsewhere than in its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rlint.run_data import FileResult, FileTask


class GroupResults(Protocol):
    """The groups of files that a run is about, and the results that are known of them."""

    def chosen(self, groups: Sequence[Sequence[FileTask]]) -> Sequence[Sequence[FileTask]]:
        """Return those of all groups of the run that are to be checked."""

    def load(self, group: Sequence[FileTask]) -> Sequence[FileResult] | None:
        """Return the results of a group; None if none are known."""

    def add(self, group: Sequence[FileTask], results: Sequence[FileResult]) -> None:
        """Keep the results of a group, whose files have not changed meanwhile."""
