"""Findings that one change mends count once: the first of them has the impact, the others refer to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rlint.findings import CodeExtent, Finding, Related
from rlint.semantics.frequency.roles import evaluates

if TYPE_CHECKING:
    from rlint.syntax.syntax_index import SyntaxIndex


def counted_once(findings: Sequence[Finding], syntax: SyntaxIndex) -> list[Finding]:
    """Return the findings of a file, those with a low impact that the change for another one in the file also
    mends. The first of them names the places of the others.
    """
    reported: dict[str, Finding] = {}
    for finding in findings:
        if finding.minor is None:
            reported.setdefault(finding.code, finding)
    remaining = [_mended_with(finding, reported) for finding in findings]

    def extent_of(finding: Finding) -> object:
        if finding.one_change_mends is CodeExtent.FUNCTION:
            return _function_around(finding.start.line, syntax)
        return "file" if finding.one_change_mends is not None else None

    return _counted(remaining, extent_of)


def counted_once_in_project(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a run, those with a low impact that the change for another one mends in all
    files. The first is in a file that trains, rather than in one that shows or measures a trained policy,
    judging by its name.
    """
    return _counted(
        findings, lambda finding: "project" if finding.one_change_mends is CodeExtent.PROJECT else None
    )


def _mended_with(finding: Finding, reported: dict[str, Finding]) -> Finding:
    other = next((reported[code] for code in finding.mended_with if code in reported), None)
    if other is None or finding.minor is not None:
        return finding
    why = f"the change that {other.code} advises for line {other.start.line} also mends it"
    return replace(finding, minor=why)


def _counted(findings: Iterable[Finding], extent_of: Callable[[Finding], object]) -> list[Finding]:
    counted: list[Finding] = []
    main: dict[object, Finding] = {}
    others: dict[object, list[Finding]] = {}
    for finding in sorted(findings, key=_order):
        extent = extent_of(finding) if finding.minor is None else None
        if extent is None:
            counted.append(finding)
            continue
        extent = (finding.code, extent)
        first = main.setdefault(extent, finding)
        if first is not finding:
            where = (
                f"line {first.start.line}" if first.path == finding.path else f"{first.path}:{first.place}"
            )
            why = f"the change for {where} usually mends it as well"
            others.setdefault(extent, []).append(replace(finding, minor=why))
    for extent, first in main.items():
        repeats = sorted(others.get(extent, ()), key=lambda each: each.sort_key)
        counted += [_naming(first, repeats), *repeats]
    return counted


def _order(finding: Finding) -> tuple[object, ...]:
    return -finding.heat, -finding.confidence, evaluates(PurePath(finding.path).stem), finding.sort_key


def _naming(first: Finding, repeats: Sequence[Finding]) -> Finding:
    known = {place.start for place in first.related}
    more = [Related(each.path, each.start, each.end, "") for each in repeats if each.start not in known]
    return replace(first, related=(*first.related, *more)) if more else first


def _function_around(line: int, syntax: SyntaxIndex) -> object:
    """Return the first and last line of the innermost function around a line; "module" outside of all."""
    defined = (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef))
    spans = ((function.lineno, function.end_lineno or function.lineno) for function in defined)
    return max((span for span in spans if span[0] <= line <= span[1]), default="module")
