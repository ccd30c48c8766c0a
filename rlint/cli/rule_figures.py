"""Measured gains of rules, cached between runs: a line for each rule, and the figures from which the impact
of its findings is estimated.

Reading all evidence takes longer than checking files that have not changed.
"""

from __future__ import annotations

import functools
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from rlint.engine.cache.store import Cache
    from rlint.evidence.impact import Saving
    from rlint.findings import Finding
    from rlint.registry.catalogue import RuleEntry
    from rlint.source.files import FileStamp

_NAME = "measured"


@frozen
class RuleFigures:
    """Measurements of one rule."""

    line: str | None = None
    """The line shown with a finding; None for a rule without a fixture."""
    saving: Saving | None = None


def rule_figures(codes: Collection[str], cache: Cache | None) -> dict[str, RuleFigures]:
    """Return the measurements of the rules with these codes."""
    if not codes:
        return {}
    from rlint.registry.catalogue import catalogue

    entries = [entry for entry in catalogue() if entry.code in codes]
    if cache is None or not cache.is_usable:
        return {entry.code: _read(entry) for entry in entries}
    from rlint.engine.cache.keys import own_digest

    kept = cache.load(_NAME)
    of = own_digest().hex()
    if not isinstance(kept, dict) or kept.get("of") != of:
        kept = {"of": of, "rules": {}}
    rules, is_new = kept["rules"], False
    for entry in entries:
        stamps = _stamps(entry)
        if entry.code not in rules or rules[entry.code][0] != stamps:
            rules[entry.code] = [stamps, _packed(_read(entry))]
            is_new = True
    if is_new:
        cache.store(_NAME, kept)
    return {entry.code: _unpacked(rules[entry.code][1]) for entry in entries}


def with_impact(findings: Iterable[Finding], figures: Mapping[str, RuleFigures]) -> list[Finding]:
    """Return findings with their impact, as far as it is known."""
    from rlint.evidence.impact import impact_of

    nothing = RuleFigures()
    return [
        replace(finding, impact=impact_of(finding, figures.get(finding.code, nothing).saving))
        for finding in findings
    ]


@functools.cache  # checks of many folders in one process need the same
def _read(entry: RuleEntry) -> RuleFigures:
    from rlint.evidence import impact, recorded
    from rlint.output import evidence_lines

    evidence = recorded.of(entry)
    return RuleFigures(evidence_lines.line(evidence), impact.saving_of(evidence))


def _packed(figures: RuleFigures) -> list[Any]:
    return [figures.line, astuple(figures.saving) if figures.saving is not None else None]


def _unpacked(data: list[Any]) -> RuleFigures:
    from rlint.evidence.impact import Saving, WorkloadSaving

    line, saving = data
    if saving is None:
        return RuleFigures(line)
    device, workloads, memory, only_on = saving
    measured = tuple(WorkloadSaving(*one) for one in workloads)
    return RuleFigures(line, Saving(device, measured, memory, tuple(only_on)))


def _stamps(entry: RuleEntry) -> list[list[str] | FileStamp | None]:
    """Return the state of the files from which the figures are read."""
    from rlint.evidence.occurrences import OCCURRENCES
    from rlint.registry.recorded_gain import DEVICES, evidence_file
    from rlint.source.files import stamp_of

    place = entry.fixtures
    if place is None:
        return []
    files = [evidence_file(place, entry.name, device) for device in DEVICES]
    files.append(place / entry.name / "evidence" / OCCURRENCES)
    return [[str(place)], *map(stamp_of, (str(entry.path), *map(str, files)))]
