"""Findings of each rule by repository, and the new ones since the last run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_PLACES = 100
"""Maximum number of repositories stored for a rule, those with most findings."""


@dataclass
class RuleTally:
    """The findings of one rule."""

    name: str = ""
    findings: int = 0
    repositories: int = 0
    impacts: Counter[str] = field(default_factory=Counter)
    fixes: Counter[str] = field(default_factory=Counter)
    certain: int = 0
    new: int = 0
    removed: int = 0
    places: Counter[str] = field(default_factory=Counter)
    """The number of findings by repository."""

    def add(self, other: RuleTally) -> None:
        """Add what the rule found elsewhere."""
        self.name = self.name or other.name
        self.findings += other.findings
        self.repositories += other.repositories
        self.impacts += other.impacts
        self.fixes += other.fixes
        self.certain += other.certain
        self.new += other.new
        self.removed += other.removed
        self.places = Counter(dict((self.places + other.places).most_common(MOST_PLACES)))


@dataclass
class RepositoryTally:
    """The findings in one repository."""

    name: str
    commit: str = ""
    files: int = 0
    size: int = 0
    findings: int = 0
    high: int = 0
    """The number of findings of high impact."""
    fixable: int = 0
    problems: int = 0
    new: int | None = None
    """None if no earlier run is known."""
    removed: int | None = None
    reason: str = ""
    seconds: float = 0.0


Tallies = dict[str, RuleTally]


def tally(repository: str, entries: Iterable[Mapping[str, Any]]) -> Tallies:
    """Return what the rules found in a repository."""
    found: Tallies = {}
    for entry in entries:
        if entry["code"] is None:
            continue
        one = found.setdefault(entry["code"], RuleTally(entry["name"], repositories=1))
        one.findings += 1
        one.certain += entry["confidence"] == "certain"
        one.impacts[entry["impact"]["level"] if entry["impact"] else "unknown"] += 1
        one.fixes[entry["fix"]["applicability"] if entry["fix"] else "none"] += 1
        one.places[repository] += 1
    return found


def add_changes(
    tallies: Tallies, before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]
) -> tuple[int, int]:
    """Record new and disappeared findings, by fingerprint, and return their total numbers."""
    old, new = (
        {entry["fingerprint"]: entry for entry in entries if entry["code"] is not None}
        for entries in (before, now)
    )
    came = [new[one] for one in new.keys() - old.keys()]
    went = [old[one] for one in old.keys() - new.keys()]
    for entry in came:
        tallies[entry["code"]].new += 1
    for entry in went:
        tallies.setdefault(entry["code"], RuleTally(entry["name"])).removed += 1
    return len(came), len(went)


def added(tallies: Tallies, other: Tallies) -> Tallies:
    """Add the tallies of other repositories to some."""
    for code, one in other.items():
        tallies.setdefault(code, RuleTally()).add(one)
    return tallies
