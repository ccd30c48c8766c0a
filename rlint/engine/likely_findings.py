"""Findings of a rule if sure answers were incomplete and likely ones exist."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from rlint.findings import Applicability, Confidence, Finding
from rlint.fixing.demote import restored_doubt
from rlint.regex import regex
from rlint.semantics.types.likely.notes import NOTHING

if TYPE_CHECKING:
    from rlint.base_rule import Rule
    from rlint.semantics.likely_models import LikelyModels
    from rlint.semantics.model import SemanticModel

_METHOD = regex(r"`(?!self\.\w+`)([\w.]+)\.\w+` runs a network")
"""The assumption of a method, with its object. Attributes of `self` may be different objects."""

_OF_CLASS = regex(r"`[^`]+` is an? [A-Z]\w*( or an? [A-Z]\w*)*(, as in `[^`]+`)?")
"""The assumption that an object is of the classes which the program creates for it: as good as sure."""


def likely_findings(
    rule: Rule, nodes: Sequence[ast.AST], likely: LikelyModels, certain: Collection[Finding]
) -> Iterator[Finding]:
    """Yield the findings of a rule at nodes with the likely answers about a file, each with the one
    assumption that it depends on. If no single assumption is enough, apart from those about the class of an
    object, the confidence is `possible`. Certain findings, and further places that they name, are not
    repeated.
    """
    known = {(finding.start, finding.end) for finding in certain}
    known |= {(place.start, place.end) for finding in certain for place in finding.related}
    for node in nodes:
        found, assumed, doubted = _found(rule, node, likely.all)
        found = [finding for finding in found if (finding.start, finding.end) not in known]
        if not found or not assumed:
            continue
        enough = assumed if len(_independent(assumed)) == 1 else _enough(rule, node, likely, assumed)
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
    """Return the first assumptions that suffice by themselves for the rule to report a finding: one, or
    several about the same object. If none do, return those of which none can be left out.
    """
    groups = _independent(assumed)
    for together in groups:
        found, rests_on, _ = _found(rule, node, likely.only(*together))
        if found and rests_on:
            return together
    needed = list(groups)
    for together in groups if len(groups) > 2 else ():
        others = [each for each in needed if each is not together]
        found, rests_on, _ = _found(rule, node, likely.only(*chain.from_iterable(others)))
        if found and rests_on:
            needed = others
    return tuple(chain.from_iterable(needed))


def _independent(assumed: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the assumptions in groups: two methods of the same object run networks if it is a network."""
    groups: dict[str, list[str]] = {}
    for assumption in assumed:
        method = _METHOD.fullmatch(assumption)
        groups.setdefault(method[1] if method is not None else assumption, []).append(assumption)
    return [tuple(group) for group in groups.values()]


def _assuming(finding: Finding, assumed: tuple[str, ...]) -> Finding:
    """Return a finding that depends on assumptions, including its fix."""
    every = tuple(dict.fromkeys((*assumed, finding.assumption) if finding.assumption else assumed))
    described = " and ".join(every)
    fix = finding.fix
    if fix is not None and fix.safety is Applicability.SAFE:
        fix = replace(fix, safety=Applicability.UNSAFE, reason=f"correct only if {described}")
    open_ones = [each for each in every if not _OF_CLASS.fullmatch(each)]
    one = len(_independent(tuple(open_ones))) <= 1 and finding.confidence is not Confidence.POSSIBLE
    return replace(
        finding, confidence=Confidence.LIKELY if one else Confidence.POSSIBLE, assumption=described, fix=fix
    )
