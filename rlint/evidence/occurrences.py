"""Numbers of steps in the workloads of a rule's fixture: they convert a gain to one per step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlint.frozen import frozen

OCCURRENCES = "occurrences.json"
"""The name of the file, beside the evidence of the devices."""


@frozen
class Occurrences:
    """The counts of one fixture."""

    fixture: str
    """The hash of the files that were run, as in `rlint.evidence.hashes`."""
    by_workload: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return plain data for `json.dumps`."""
        return {"fixture": self.fixture, "workloads": dict(sorted(self.by_workload.items()))}


def read_occurrences(fixtures: Path, name: str) -> Occurrences | None:
    """Return the counts for the rule called `name`; None if there are none, or the file is broken."""
    try:
        data = json.loads((fixtures / name / "evidence" / OCCURRENCES).read_bytes())
        counts = {str(workload): int(number) for workload, number in data["workloads"].items()}
        return Occurrences(str(data["fixture"]), counts)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
