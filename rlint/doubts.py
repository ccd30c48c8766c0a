"""Doubts about safe fixes, in files that look at, or change, more than others do. No rule thinks of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from rlint.findings import Edit, Finding, Fix, Safety
from rlint.project.lookups import OF_THE_FUNCTION, lookups
from rlint.project.site import Site


def doubted(findings: Sequence[Finding], site: Site) -> list[Finding]:
    """The findings of one rule, with those fixes made unsafe that somebody may notice."""
    replaced = sorted(site.knowledge.names.replaced_methods)
    looking = list(lookups(site.tree, {**OF_THE_FUNCTION, "dir": 1}))
    if not (replaced or looking):
        return list(findings)
    return [_with_doubt(finding, replaced, looking, site) for finding in findings]


def _with_doubt(
    finding: Finding, replaced: Sequence[str], looking: Sequence[ast.Call], site: Site
) -> Finding:
    fix = finding.fix
    if fix is None or fix.safety is not Safety.SAFE:
        return finding
    reason = _replaced_reason(fix, replaced, site) or _looking_reason(fix, looking, site)
    return replace(finding, fix=replace(fix, safety=Safety.UNSAFE, reason=reason)) if reason else finding


def _replaced_reason(fix: Fix, replaced: Sequence[str], site: Site) -> str | None:
    """Nobody knows what a method does that the file replaces, and so what a fix of its calls changes."""
    changed = [site.tree.text[edit.start : edit.end] for edit in fix.edits]
    for name in replaced:
        if any(f".{name}" in text for text in changed):
            return f"`{name}` is replaced in this file, and may do something else"
    return None


def _looking_reason(fix: Fix, looking: Sequence[ast.Call], site: Site) -> str | None:
    """What is computed, and under which name, shows in a call that comes later."""
    for call in looking:
        function = site.function(call)
        within = site.span(function) if function is not None else (0, len(site.tree.text))
        for edit in fix.edits:
            earlier = not site.loops(call) and site.span(call)[1] <= edit.start
            inside = within[0] <= edit.start <= edit.end <= within[1]
            if inside and not earlier and (function is not None or _is_outside_functions(edit, site)):
                return f"`{site.text(call.func)}` may look at the variables that are there"
    return None


def _is_outside_functions(edit: Edit, site: Site) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    spans = [site.span(function) for kind in kinds for function in site.tree.of_type(kind)]
    return not any(start <= edit.start and edit.end <= end for start, end in spans)
