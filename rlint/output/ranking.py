"""The order of findings, and which of them are folded into one line."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rlint.findings import ImpactLevel
from rlint.frozen import frozen
from rlint.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.findings import Finding

_ORDER = {ImpactLevel.HIGH: 0, ImpactLevel.MEDIUM: 1, ImpactLevel.UNKNOWN: 2, ImpactLevel.LOW: 3}
"""Findings without a measurement come after those that are known to matter."""
_NAMES = regex(r"`[^`]*`")
SHOWN_OF_A_RULE = 3
"""The number of findings of one rule that are shown in full; the others are folded."""
SHOWN_UNMEASURED = 1
"""The same for findings whose impact is not known: less than half of the transfers that were judged at the
code were worth a change.
"""
SHOWN_IN_ALL = 12
"""The number of findings of all rules that are shown in full."""


@frozen
class FindingGroup:
    """Findings of one rule that are shown together: some in full, the others by their places."""

    shown: Sequence[Finding]
    folded: Sequence[Finding]


def impact_level(finding: Finding) -> ImpactLevel:
    """Return the impact of a finding, as far as it is known."""
    return finding.impact.level if finding.impact is not None else ImpactLevel.UNKNOWN


def is_at_least(finding: Finding, least: ImpactLevel) -> bool:
    """Whether a finding has at least an impact, as far as it is known: an unknown one is not low."""
    known = impact_level(finding)
    return known >= least or (known is ImpactLevel.UNKNOWN and least <= ImpactLevel.MEDIUM)


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, those with the highest impact first: of equals the hotter, then the surer, then by
    rule, file and line, so that findings of one rule are adjacent.
    """
    return sorted(
        findings,
        key=lambda finding: (
            _ORDER[impact_level(finding)],
            -finding.heat,
            -finding.confidence,
            finding.code,
            finding.sort_key,
        ),
    )


def low_apart(findings: Sequence[Finding]) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """Return findings without those of low impact, and those; a few of them are not separated if there are no
    others.
    """
    low = [finding for finding in findings if impact_level(finding) is ImpactLevel.LOW]
    if len(low) == len(findings) <= SHOWN_OF_A_RULE:
        return findings, ()
    return [finding for finding in findings if impact_level(finding) is not ImpactLevel.LOW], low


def groups(findings: Sequence[Finding], *, fold: bool) -> list[FindingGroup]:
    """Return ranked findings by rule, the rule of the first finding first. With `fold`, a group shows only
    its first findings with different messages, if several more would follow, and a group after the first
    `SHOWN_IN_ALL` findings shows none.
    """
    first: dict[str, int] = {}
    for index, finding in enumerate(findings):
        first.setdefault(finding.code, index)
    by_rule = groupby(sorted(findings, key=lambda finding: first[finding.code]), key=lambda each: each.code)
    found = []
    left = SHOWN_IN_ALL
    for _, group in by_rule:
        listed = list(group)
        everything = not fold or len(findings) <= SHOWN_OF_A_RULE + 1
        shown = range(len(listed)) if everything else _worth_showing(listed, left)
        left -= len(shown)
        folded = [finding for index, finding in enumerate(listed) if index not in shown]
        found.append(FindingGroup([listed[index] for index in shown], folded))
    return found


def _worth_showing(findings: Sequence[Finding], left: int) -> Sequence[int]:
    """Return the indices of the findings of a rule to show in full: one for each message, whatever names it
    contains, up to the limits.
    """
    by_message: dict[str, int] = {}
    for index, finding in enumerate(findings):
        by_message.setdefault(_NAMES.sub("", finding.message), index)
    is_measured = impact_level(findings[0]) is not ImpactLevel.UNKNOWN
    most = min(SHOWN_OF_A_RULE if is_measured else SHOWN_UNMEASURED, left)
    # showing one more takes no more lines than a note that there is one more
    if len(findings) == len(by_message) == most + 1 and left > most:
        return range(len(findings))
    return list(by_message.values())[:most]
