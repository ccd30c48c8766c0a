"""Findings of a rule if sure answers were incomplete and likely ones exist."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.findings import Applicability, Confidence, Finding
from rlint.fixing.demote import restored_doubt
from rlint.semantics.types.likely.notes import NOTHING

if TYPE_CHECKING:
    from rlint.base_rule import Rule
    from rlint.semantics.likely_models import LikelyModels
    from rlint.semantics.model import SemanticModel


def likely_findings(
    rule: Rule, nodes: Sequence[ast.AST], likely: LikelyModels, certain: Collection[Finding]
) -> Iterator[Finding]:
    """Yield the findings of a rule at nodes with the likely answers about a file, each with the one
    assumption that it depends on. If no single assumption is enough, the confidence is `possible`. Certain
    findings are not repeated.
    """
    known = {(finding.start, finding.end) for finding in certain}
    for node in nodes:
        found, assumed, doubted = _found(rule, node, likely.all)
        found = [finding for finding in found if (finding.start, finding.end) not in known]
        if not found or not assumed:
            continue
        enough = assumed if len(assumed) == 1 else _enough(rule, node, likely, assumed)
        for finding in found:
            yield _assuming(restored_doubt(finding) if doubted else finding, enough)


def _found(rule: Rule, node: ast.AST, model: SemanticModel) -> tuple[list[Finding], tuple[str, ...], bool]:
    """Return a rule's findings at a node, their assumptions, and whether they depend on a doubtful type."""
    notes = model.analysis.notes
    notes.state = NOTHING
    found: list[Finding] = []
    with suppress(RecursionError):
        found = [finding for finding in rule.check(node, model) if finding.heat >= rule.heat]
    return found, notes.state.assumed, notes.state.doubted


def _enough(rule: Rule, node: ast.AST, likely: LikelyModels, assumed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first assumption that suffices by itself for the rule to report a finding; all of them if
    none does.
    """
    for assumption in assumed:
        found, rests_on, _ = _found(rule, node, likely.only(assumption))
        if found and rests_on:
            return (assumption,)
    return assumed


def _assuming(finding: Finding, assumed: tuple[str, ...]) -> Finding:
    """Return a finding that depends on assumptions, including its fix."""
    every = tuple(dict.fromkeys((*assumed, finding.assumption) if finding.assumption else assumed))
    described = " and ".join(every)
    fix = finding.fix
    if fix is not None and fix.safety is Applicability.SAFE:
        fix = replace(fix, safety=Applicability.UNSAFE, reason=f"correct only if {described}")
    one = len(every) == 1 and finding.confidence is not Confidence.POSSIBLE
    return replace(
        finding, confidence=Confidence.LIKELY if one else Confidence.POSSIBLE, assumption=described, fix=fix
    )
