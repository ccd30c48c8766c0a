"""Result of checking files: plain data that is sent between processes."""

from __future__ import annotations

import pickle
import zlib
from dataclasses import field
from typing import TYPE_CHECKING

from rlint.engine.incremental.dependencies import Dependencies
from rlint.frozen import mutable
from rlint.run_data import CheckOptions, FileResult

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import ModuleSummary


@mutable
class CheckOutcome:
    """The findings in some files; if requested, their summaries by name, and their queries."""

    results: list[FileResult] = field(default_factory=list)
    summaries: dict[str, ModuleSummary] = field(default_factory=dict)
    queries: Dependencies = field(default_factory=Dependencies)
    _packed: list[bytes] = field(default_factory=list)

    def queries_for(self, options: CheckOptions) -> Dependencies | None:
        """Return the record to which queries of a file are added; None if nothing is cached for it."""
        return self.queries if options.cache is not None else None

    def add(self, other: CheckOutcome) -> None:
        """Add results from elsewhere."""
        self.results += other.results
        self.summaries.update(other.summaries)
        self.queries.update(other.queries)
        self._packed += other._packed

    def pack(self) -> None:
        """Pack the queries: they are large, and not needed before all files are checked."""
        if self.queries.files:
            self._packed.append(zlib.compress(pickle.dumps(self.queries, pickle.HIGHEST_PROTOCOL), level=1))
            self.queries = Dependencies()

    def unpack(self) -> None:
        """Unpack queries that were packed, here or in a process of this run."""
        for packed in self._packed:
            self.queries.update(pickle.loads(zlib.decompress(packed)))  # noqa: S301
        self._packed.clear()
