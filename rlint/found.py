"""What comes of checking files: plain data that travels between processes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from rlint.asked import Asked
from rlint.frozen import mutable
from rlint.runs import Result

if TYPE_CHECKING:
    from rlint.project.summary import ModuleSummary


@mutable
class Found:
    """What was found in some files; where it is wanted, their summaries by name, and what they asked."""

    results: list[Result] = field(default_factory=list)
    summaries: dict[str, ModuleSummary] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)

    def add(self, other: Found) -> None:
        """Add what was found elsewhere."""
        self.results += other.results
        self.summaries.update(other.summaries)
        self.asked.update(other.asked)
