"""Merge the findings of a repository's parts, in the order of a single run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ReportEntry = dict[str, Any]


def merged(parts: Sequence[Sequence[ReportEntry]]) -> list[ReportEntry]:
    """Return the entries of all parts: findings by file, then problems.

    A file belongs to one part, which has its findings in order. Problems of the whole repository, such as a
    dangling link, come first in each part, and once in the result.
    """
    if len(parts) == 1:
        return list(parts[0])
    found: dict[str, list[ReportEntry]] = {}
    problems: list[list[ReportEntry]] = []
    for part in parts:
        for entry in part:
            if entry["code"] is not None:
                found.setdefault(entry["filename"], []).append(entry)
        problems.append([entry for entry in part if entry["code"] is None])
    shared = _shared(problems)
    own: list[ReportEntry] = []
    for each in problems:
        own += [entry for entry in each[len(shared) :] if entry not in own]
    own.sort(key=_order)
    return [*(entry for name in sorted(found) for entry in found[name]), *shared, *own]


def _shared(lists: Sequence[Sequence[ReportEntry]]) -> list[ReportEntry]:
    """Return the common beginning of all lists."""
    shared = []
    for entries in zip(*lists, strict=False):
        if any(entry != entries[0] for entry in entries):
            break
        shared.append(entries[0])
    return shared


def _order(problem: ReportEntry) -> tuple[str, int, int, str]:
    return (problem["filename"], problem["cell"] or 0, problem["location"]["row"], problem["message"])
