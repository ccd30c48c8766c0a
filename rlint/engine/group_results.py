"""Protocol for runs that select the groups of files to check, and store their results elsewhere than in the
cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rlint.run_data import FileResult, FileTask


class GroupResults(Protocol):
    """The groups of files of a run, and their known results."""

    def chosen(self, groups: Sequence[Sequence[FileTask]]) -> Sequence[Sequence[FileTask]]:
        """Return the groups of the run that are to be checked."""

    def load(self, group: Sequence[FileTask]) -> Sequence[FileResult] | None:
        """Return the results of a group; None if none are known."""

    def add(self, group: Sequence[FileTask], results: Sequence[FileResult]) -> None:
        """Store the results of a group, whose files have not changed meanwhile."""
